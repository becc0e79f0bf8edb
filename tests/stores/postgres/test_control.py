"""What is asked of the fleet, while others are at the same rows."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from onebeat.control import Target
from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.postgres.channel import channel_of
from tests.stores.postgres.fleet_given import run, ticks, triggered
from tests.stores.postgres.given import TICK, bid, claim, jobs_locked, opened, waiting

AHEAD = datetime(2100, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ASKS: Any = {"app": "app", "by": "ada", "reason": "a test"}


async def asked(store: PostgresStore, action: str) -> None:
    if action == "pause":
        await store.pause(Target.app(), until=None, **ASKS)
    elif action == "resume":
        await store.resume(Target.app(), **ASKS)
    elif action == "trigger":
        await store.trigger("report", force=False, **ASKS)
    else:
        await store.cancel("report", scheduled_at=None, **ASKS)


@pytest.mark.parametrize("action", ["pause", "resume", "trigger", "cancel"])
async def test_whatever_is_asked_is_called_out_to_its_app(database: str, action: str) -> None:
    """F-PAUSE: so that nobody has to wait for a heartbeat."""
    async with (
        opened(PostgresStore(database)) as (store,),
        await psycopg.AsyncConnection.connect(database, autocommit=True) as ear,
    ):
        await claim(store, bid())
        await ear.execute(f"LISTEN {channel_of('app')}".encode())
        await asked(store, action)
        heard = [call.channel async for call in ear.notifies(timeout=10, stop_after=1)]
    assert heard == [channel_of("app")]


async def test_a_trigger_lies_after_one_that_is_taken_up_while_it_waits(database: str) -> None:
    """F-PAUSE: or nobody would ever take it up: triggers go in ascending order."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        async with jobs_locked(database) as holder:
            trigger = asyncio.create_task(store.trigger("report", force=False, **ASKS))
            await asyncio.wait_for(waiting(database, 1), 30)
            await holder.execute("UPDATE onebeat_jobs SET triggered_at = %s", [AHEAD])
        assert (await trigger).scheduled_at > AHEAD


async def test_a_trigger_lies_after_those_that_wait(database: str) -> None:
    """F-PAUSE: whatever the server's clock was when they were asked for."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        triggered(database, Tick("report", AHEAD + MICROSECOND))
        triggered(database, Tick("another", AHEAD + timedelta(hours=1)))
        tick = await store.trigger("report", force=False, **ASKS)
    assert tick.scheduled_at == AHEAD + 2 * MICROSECOND


async def test_a_trigger_passes_over_whole_seconds_and_the_rows_that_are_there(database: str) -> None:
    """F-PAUSE: those are the schedule's, and no row has two meanings."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        run(database, "UPDATE onebeat_jobs SET triggered_at = $1", AHEAD - MICROSECOND)
        taken = [AHEAD + place * MICROSECOND for place in (1, 2)]
        for at in taken:
            run(
                database,
                "INSERT INTO onebeat_ticks (app, job_id, scheduled_at, verdict) "
                "VALUES ('app', 'report', $1, 'missed')",
                at,
            )
        tick = await store.trigger("report", force=False, **ASKS)
        verdicts = ticks(database, "verdict")
    assert tick.scheduled_at == AHEAD + 3 * MICROSECOND
    assert verdicts == [(None,), ("missed",), ("missed",), (None,)]


async def test_a_run_that_ends_while_its_cancel_waits_is_not_cancelled(database: str) -> None:
    """F-PAUSE: a cancel takes its turn at the job's row, as claims and releases do."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        async with jobs_locked(database) as holder:
            cancel = asyncio.create_task(store.cancel("report", scheduled_at=None, **ASKS))
            await asyncio.wait_for(waiting(database, 1), 30)
            await holder.execute("UPDATE onebeat_ticks SET released_at = now(), verdict = 'ran'")
        assert await cancel == []
        assert ticks(database, "scheduled_at, verdict, wanted") == [(TICK.scheduled_at, "ran", None)]
