"""What a release writes, and what it leaves alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from onebeat.model import Record, Verdict
from onebeat.stores.postgres import PostgresStore
from tests.stores.postgres.fleet_given import NEXT, job, rows_locked, run, ticks
from tests.stores.postgres.given import (
    HOUR,
    TICK,
    bid,
    claim,
    claim_and_release,
    ended,
    opened,
    replica,
    waiting,
)


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


async def test_a_jobs_row_tells_how_its_runs_went(database: str) -> None:
    """F-VERDICT, F-SILENT: failures in a row, last verdict, last success; with and without a lease."""
    told = []
    async with opened(PostgresStore(database)) as (store,):
        for hour, verdict in enumerate(("failed", "timed_out", "cancelled", "ran", "lost", "failed")):
            tick = replace(TICK, scheduled_at=TICK.scheduled_at.replace(hour=hour))
            await claim(store, asked := bid(tick, lease=None if hour % 2 else HOUR))
            release = replace(ended(asked), verdict=Verdict(verdict), trace_id="f" * 32)
            for _ in range(2):
                await store.release([release], replica=replica())
            told.append(job(database, "failures, last_verdict, last_success_at IS NULL"))
    assert told == [
        (1, "failed", True),
        (2, "timed_out", True),
        (2, "cancelled", True),
        (0, "ran", False),
        (1, "lost", False),
        (2, "failed", False),
    ]
    assert set(ticks(database, "trace_id, wanted")) == {("f" * 32, None)}


async def test_runs_of_one_job_that_end_together_are_each_counted(database: str) -> None:
    """F-VERDICT: in the order in which they ended."""
    async with opened(PostgresStore(database)) as (store,):
        bids = [bid(replace(TICK, scheduled_at=TICK.scheduled_at.replace(hour=h)), None) for h in range(4)]
        for one in bids:
            await claim(store, one)
        verdicts = (Verdict.FAILED, Verdict.RAN, Verdict.FAILED, Verdict.FAILED)
        releases = [replace(ended(one), verdict=verdict) for one, verdict in zip(bids, verdicts, strict=True)]
        await store.release(releases, replica=replica())
    assert job(database, "failures, last_verdict") == (2, "failed")
    assert ticks(database, "verdict") == [("failed",), ("ran",), ("failed",), ("failed",)]


async def test_a_release_clears_what_was_wanted_of_the_run(database: str) -> None:
    """F-PAUSE: it is over, cancelled or not."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, asked := bid())
        run(database, "UPDATE onebeat_ticks SET wanted = 'cancel'")
        await store.release([ended(asked)], replica=replica())
    assert ticks(database, "verdict, wanted") == [("ran", None)]


@pytest.mark.parametrize("lease", [HOUR, None], ids=["overlap forbidden", "overlap allowed"])
async def test_a_claim_that_lands_while_its_release_waits_has_a_verdict(
    database: str, lease: timedelta | None
) -> None:
    """F-VERDICT, C-CANCEL: an undecided token is released, and what became of the tick is told."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid(lease=lease))
        undecided = bid(NEXT, lease)
        with rows_locked(database, "onebeat_jobs"):
            claiming = asyncio.create_task(claim(one, undecided))
            await waiting(database, 1)
            releasing = asyncio.create_task(other.release([ended(undecided)], replica=replica()))
            await waiting(database, 2)
        await asyncio.gather(claiming, releasing)
    assert ticks(database, "verdict") == [("ran",), ("ran",)]


async def test_missed_ticks_are_recorded_with_the_release_that_accounts_for_them(database: str) -> None:
    """F-VERDICT: where they have no row; once, and never by a release that released nothing."""
    instants = [TICK.scheduled_at + n * timedelta(minutes=1) for n in range(5)]
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid())
        await store.record(
            [Record(replace(TICK, scheduled_at=instants[2]), Verdict.OVERLAPPED)], replica=replica()
        )
        await claim(store, asked := bid(replace(TICK, scheduled_at=instants[4])))
        release = replace(ended(asked), missed=tuple(instants[1:4]), accounts=True)
        await store.release([replace(release, token="another's")], replica=replica())
        assert job(database, "accounted_at") == (None,)
        assert len(ticks(database, "1")) == 3
        await store.release([release], replica=replica())
        await store.release([release], replica=replica())
        [next_] = await claim(store, bid(NEXT))
    assert ticks(database, "verdict, provisional")[:5] == [
        ("ran", False),
        ("missed", False),
        ("overlapped", True),
        ("missed", False),
        ("ran", False),
    ]
    assert job(database, "accounted_at") == (instants[4],)
    assert next_.owed_since == max(instants[4], *job(database, "changed_at"))


def rows(database: str) -> list[Any]:
    with psycopg.connect(database) as watcher:
        jobs = watcher.execute("SELECT * FROM onebeat_jobs").fetchall()
        return jobs + watcher.execute("SELECT * FROM onebeat_ticks").fetchall()
