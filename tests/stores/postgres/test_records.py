"""What a release writes, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg

from onebeat.model import Verdict
from onebeat.stores.postgres import PostgresStore
from tests.stores.postgres.given import bid, claim, ended, opened, replica


async def test_a_release_made_again_changes_no_column(database: str) -> None:
    """C-RELEASE: neither of the job's row nor of the tick's."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, asked := bid())
        await store.release([ended(asked)], replica=replica())
        once = rows(database)
        await store.release([replace(ended(asked), verdict=Verdict.FAILED)], replica=replica())
        assert rows(database) == once


async def test_a_release_by_another_token_writes_nothing(database: str) -> None:
    """C-RELEASE: one that never landed, for a tick that somebody else has."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        before = rows(database)
        await store.release([ended(bid())], replica=replica("b"))
        assert rows(database) == before


async def test_a_run_is_recorded_when_the_job_has_moved_on(database: str) -> None:
    """F-VERDICT: its lease had ended, a later tick was claimed, and what became of it is still told."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, outrun := bid(lease=None))
        later = replace(
            bid(), tick=replace(outrun.tick, scheduled_at=outrun.tick.scheduled_at.replace(day=2))
        )
        await claim(store, later)
        await store.release([ended(outrun, "too slow")], replica=replica())
    with psycopg.connect(database) as watcher:
        told = watcher.execute("SELECT verdict, note FROM onebeat_ticks ORDER BY scheduled_at").fetchall()
        assert told == [("ran", "too slow"), (None, None)]
        assert watcher.execute("SELECT released_at FROM onebeat_jobs").fetchall() == [(None,)]


def rows(database: str) -> list[Any]:
    with psycopg.connect(database) as watcher:
        jobs = watcher.execute("SELECT * FROM onebeat_jobs").fetchall()
        return jobs + watcher.execute("SELECT * FROM onebeat_ticks").fetchall()
