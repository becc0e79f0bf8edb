"""What the tests of the PostgreSQL store start from."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import psycopg

from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import Answer, Bid, Release, Replica, Tick, Verdict
from onebeat.stores.postgres import PostgresStore

HOUR = timedelta(hours=1)
TIMEOUT = timedelta(seconds=30)
TICK = Tick("report", datetime(2026, 1, 1, tzinfo=UTC))


def replica(name: str = "a", app: str = "app") -> Replica:
    return Replica(app, f"id-of-{name}", name)


def bid(tick: Tick = TICK, lease: timedelta | None = HOUR) -> Bid:
    return Bid(tick, uuid.uuid4().hex, lease)


def ended(bid: Bid, error: str | None = None) -> Release:
    return Release(bid.tick, bid.token, Verdict.RAN, error=error)


async def claim(
    store: PostgresStore, *bids: Bid, by: str = "a", timeout: timedelta = TIMEOUT
) -> Sequence[Answer]:
    """The answers; what lost to a conflict is asked again with the same tokens, as the engine does."""
    while True:
        try:
            return await store.claim(bids, replica=replica(by), timeout=timeout)
        except ClaimFailed as error:
            if error.failure is not ClaimFailure.CONFLICT:
                raise


async def claim_and_release(store: PostgresStore, *bids: Bid) -> None:
    """Runs from start to end, where the bids win."""
    await claim(store, *bids)
    await store.release([ended(one) for one in bids], replica=replica())


@asynccontextmanager
async def opened(*stores: PostgresStore) -> AsyncIterator[Sequence[PostgresStore]]:
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


@asynccontextmanager
async def jobs_locked(database: str) -> AsyncIterator[psycopg.AsyncConnection]:
    """Somebody else, on this connection, holds the rows of all jobs for as long as the block lasts."""
    async with await psycopg.AsyncConnection.connect(database) as holder:
        await holder.execute("SELECT FROM onebeat_jobs FOR UPDATE")
        yield holder


async def waiting(database: str, count: int) -> None:
    """Return when *count* statements wait for a lock."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as watcher:
        while True:
            cursor = await watcher.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            )
            row = await cursor.fetchone()
            if row and row[0] >= count:
                return
            await asyncio.sleep(0.01)
