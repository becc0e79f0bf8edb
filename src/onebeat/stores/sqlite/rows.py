"""Rows in and out of the tables. The columns stand in the order of the rows' fields."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import attrgetter

from onebeat.stores.ruling import JobKey, JobRow, Pause, Pauses, TickKey, TickRow

_PAUSES = "SELECT scope, name, until FROM onebeat_pauses WHERE app = ?"
_JOB_KEY = ("app", "job_id")
_TICK_KEY = (*_JOB_KEY, "scheduled_at")


def _upsert(table: str, key: Sequence[str], columns: Sequence[str]) -> str:
    """Every column by its name, never a whole-row REPLACE: a newer replica's columns survive an older one."""
    names = (*key, *columns)
    return (
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)}) "
        f"ON CONFLICT ({', '.join(key)}) "
        f"DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in columns)}"
    )


_JOB = f"SELECT {', '.join(JobRow.__slots__)} FROM onebeat_jobs WHERE app = ? AND job_id = ?"
_WRITE_JOB = _upsert("onebeat_jobs", _JOB_KEY, JobRow.__slots__)
_TICKS_OF_JOB = f"""
SELECT scheduled_at, {", ".join(TickRow.__slots__)} FROM onebeat_ticks WHERE app = ? AND job_id = ?
"""
_TICK = f"""
SELECT {", ".join(TickRow.__slots__)} FROM onebeat_ticks WHERE app = ? AND job_id = ? AND scheduled_at = ?
"""
_WRITE_TICK = _upsert("onebeat_ticks", _TICK_KEY, TickRow.__slots__)

# Not dataclasses.astuple: it copies every value, and a batch has a thousand rows.
_of_job = attrgetter(*JobRow.__slots__)
_of_tick = attrgetter(*TickRow.__slots__)


def read_job(db: sqlite3.Connection, key: JobKey) -> JobRow | None:
    row = db.execute(_JOB, key).fetchone()
    return None if row is None else JobRow(*row)


def read_tick(db: sqlite3.Connection, key: TickKey) -> TickRow | None:
    row = db.execute(_TICK, key).fetchone()
    return None if row is None else TickRow(*row)


def ticks_of(db: sqlite3.Connection, key: JobKey) -> dict[int, TickRow]:
    return {scheduled_at: TickRow(*row) for scheduled_at, *row in db.execute(_TICKS_OF_JOB, key)}


def write(db: sqlite3.Connection, key: TickKey, job: JobRow | None, tick: TickRow | None) -> None:
    if job is not None:
        write_job(db, key[:2], job)
    if tick is not None:
        db.execute(_WRITE_TICK, (*key, *_of_tick(tick)))


def write_job(db: sqlite3.Connection, key: JobKey, job: JobRow) -> None:
    db.execute(_WRITE_JOB, (*key, *_of_job(job)))


def pauses_of(db: sqlite3.Connection, app: str, *, now: int) -> Pauses:
    """All pauses of *app*, ongoing and over."""
    return Pauses((Pause(*row) for row in db.execute(_PAUSES, (app,))), now=now)
