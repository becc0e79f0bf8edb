"""Rows in and out of the tables. The columns stand in the order of the rows' fields."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import attrgetter

from onebeat.stores.ruling import JobKey, JobRow, TickKey, TickRow

# Every column by its name, never a whole-row REPLACE: a newer replica's columns survive an older one.
_JOB = """
SELECT watermark, previous_at, floor, token, holder, lease_until, released_at, fence, attempt,
       triggered_at, schedule, fingerprint, first_seen,
       changed_at, last_verdict, last_success_at, failures
  FROM onebeat_jobs
 WHERE app = ? AND job_id = ?
"""
_WRITE_JOB = """
INSERT INTO onebeat_jobs (app, job_id, watermark, previous_at, floor, token, holder, lease_until, released_at,
                          fence, attempt, triggered_at, schedule, fingerprint, first_seen,
       changed_at, last_verdict, last_success_at, failures)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (app, job_id) DO UPDATE
   SET watermark = excluded.watermark,
       previous_at = excluded.previous_at,
       floor = excluded.floor,
       token = excluded.token,
       holder = excluded.holder,
       lease_until = excluded.lease_until,
       released_at = excluded.released_at,
       fence = excluded.fence,
       attempt = excluded.attempt,
       triggered_at = excluded.triggered_at,
       schedule = excluded.schedule,
       fingerprint = excluded.fingerprint,
       first_seen = excluded.first_seen,
       changed_at = excluded.changed_at,
       last_verdict = excluded.last_verdict,
       last_success_at = excluded.last_success_at,
       failures = excluded.failures
"""
_TICK = """
SELECT token, holder, claimed_by, attempt, fence, previous_at, claimed_at, released_at,
       started_at, finished_at, confirmed_at, verdict, provisional, note, trace_id, rerun, triggered,
       forced, asked_by, reason, wanted
  FROM onebeat_ticks
 WHERE app = ? AND job_id = ? AND scheduled_at = ?
"""
_TICKS_OF_JOB = """
SELECT scheduled_at, token, holder, claimed_by, attempt, fence, previous_at, claimed_at, released_at,
       started_at, finished_at, confirmed_at, verdict, provisional, note, trace_id, rerun, triggered,
       forced, asked_by, reason, wanted
  FROM onebeat_ticks
 WHERE app = ? AND job_id = ?
"""
_WRITE_TICK = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token, holder, claimed_by, attempt, fence, previous_at,
                           claimed_at, released_at, started_at, finished_at,
       confirmed_at, verdict, provisional, note, trace_id, rerun, triggered,
       forced, asked_by, reason, wanted)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (app, job_id, scheduled_at) DO UPDATE
   SET token = excluded.token,
       holder = excluded.holder,
       claimed_by = excluded.claimed_by,
       attempt = excluded.attempt,
       fence = excluded.fence,
       previous_at = excluded.previous_at,
       claimed_at = excluded.claimed_at,
       released_at = excluded.released_at,
       started_at = excluded.started_at,
       finished_at = excluded.finished_at,
       confirmed_at = excluded.confirmed_at,
       verdict = excluded.verdict,
       provisional = excluded.provisional,
       note = excluded.note,
       trace_id = excluded.trace_id,
       rerun = excluded.rerun,
       triggered = excluded.triggered,
       forced = excluded.forced,
       asked_by = excluded.asked_by,
       reason = excluded.reason,
       wanted = excluded.wanted
"""
# The oldest first: so the floor never shuts out a tick of which a row is left.
_OLD = """
SELECT app, job_id, scheduled_at
  FROM onebeat_ticks
 WHERE app = ? AND scheduled_at < ? AND (token IS NULL OR released_at IS NOT NULL)
 ORDER BY scheduled_at
 LIMIT ?
"""
_RAISE_FLOOR = """
UPDATE onebeat_jobs
   SET floor = max(coalesce(floor, :scheduled_at), :scheduled_at)
 WHERE app = :app AND job_id = :job_id
"""
_DELETE = """
DELETE FROM onebeat_ticks
 WHERE app = :app AND job_id = :job_id AND scheduled_at = :scheduled_at
"""

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
        db.execute(_WRITE_JOB, (*key[:2], *_of_job(job)))
    if tick is not None:
        db.execute(_WRITE_TICK, (*key, *_of_tick(tick)))


def old_ticks(db: sqlite3.Connection, app: str, before: int, limit: int) -> Sequence[TickKey]:
    """The oldest tick rows that no unreleased claim holds."""
    return db.execute(_OLD, (app, before, limit)).fetchall()


def delete(db: sqlite3.Connection, keys: Sequence[TickKey]) -> None:
    """Raise the floors of their jobs above these ticks, then delete them."""
    named = [{"app": app, "job_id": job_id, "scheduled_at": at} for app, job_id, at in keys]
    db.executemany(_RAISE_FLOOR, named)
    db.executemany(_DELETE, named)
