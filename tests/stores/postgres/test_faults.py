"""D-DOWN: a server that fails costs statements, never the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import (
    HOUR,
    TICK,
    TIMEOUT,
    bid,
    claim,
    claim_and_release,
    ended,
    jobs_locked,
    opened,
    replica,
    waiting,
)

LATER = Tick("report", datetime(2026, 1, 2, tzinfo=UTC))
LATEST = Tick("report", datetime(2026, 1, 3, tzinfo=UTC))


@pytest.fixture(scope="module")
def mortal() -> Iterator[Postgres]:
    """A server that these tests may kill. Its own default is to lose what a crash finds unwritten."""
    with Postgres(synchronous_commit="off", wal_writer_delay="10s") as server:
        yield server


@asynccontextmanager
async def psycopg_async(dsn: str) -> AsyncIterator[Any]:
    async with AsyncConnectionPool(dsn, min_size=1, max_size=1, open=False) as pool:
        yield pool


@asynccontextmanager
async def psycopg_sync(dsn: str) -> AsyncIterator[Any]:
    with ConnectionPool(dsn, min_size=1, max_size=1, open=False) as pool:
        yield pool


@asynccontextmanager
async def asyncpg_pool(dsn: str) -> AsyncIterator[Any]:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        yield pool


@asynccontextmanager
async def sync_engine(dsn: str) -> AsyncIterator[Any]:
    engine = create_engine(dsn.replace("postgresql", "postgresql+psycopg"), pool_size=1, max_overflow=0)
    yield engine
    engine.dispose()


@asynccontextmanager
async def async_engine(dsn: str) -> AsyncIterator[Any]:
    engine = create_async_engine(dsn.replace("postgresql", "postgresql+asyncpg"), pool_size=1, max_overflow=0)
    yield engine
    await engine.dispose()


@asynccontextmanager
async def own_pool(dsn: str) -> AsyncIterator[Any]:
    yield dsn


TARGETS = [own_pool, psycopg_async, psycopg_sync, asyncpg_pool, sync_engine, async_engine]
Target = Callable[[str], Any]


@pytest.mark.parametrize("target", TARGETS)
async def test_a_cancelled_statement_gives_its_connection_up(database: str, target: Target) -> None:
    """C-CANCEL, D-POOL: it is closed, not returned in mid-statement; the next claim gets a fresh one."""
    async with target(database) as handle, opened(PostgresStore(handle)) as (store,):
        await claim_and_release(store, bid())
        async with jobs_locked(database):
            stuck = asyncio.create_task(claim(store, bid(LATER)))
            await waiting(database, 1)
            stuck.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stuck
            # The row is still locked, and the pool of one connection has room for another again.
            elsewhere = bid(Tick("elsewhere", TICK.scheduled_at))
            [answer] = await claim(store, elsewhere, timeout=timedelta(seconds=5))
            assert answer.won
        [answer] = await claim(store, bid(LATEST))
        # The cancelled statement may still land, before this one looks or while it waits for the row; what
        # happens in that moment a refusal words as "claimed".
        assert answer.ruling in ("won", "overlapped", "claimed")


@pytest.mark.parametrize("target", TARGETS)
async def test_a_restarted_server_is_found_again(mortal: Postgres, target: Target) -> None:
    """D-DOWN: each broken connection costs a statement, then all is well; nothing is restarted here."""
    dsn = mortal.dsn(mortal.new_database())
    async with target(dsn) as handle, opened(PostgresStore(handle)) as (store,):
        await claim(store, first := bid())
        mortal.restart("immediate")
        answer = await until_answered(store)
        assert (answer.ruling, answer.claimed_by) == ("claimed", "a")
        await store.release([ended(first)], replica=replica())
        [later] = await claim(store, bid(LATER))
        assert later.won


async def test_a_claim_survives_a_crash_whatever_the_default(mortal: Postgres) -> None:
    """D-PG: `synchronous_commit` is on within the statement; a write of the app's own is lost here."""
    dsn = mortal.dsn(mortal.new_database())
    async with opened(PostgresStore(dsn)) as (store,):
        await claim(store, bid())
        with psycopg.connect(dsn, autocommit=True) as app:
            app.execute("CREATE TABLE written_by_the_app (n int)")
            app.execute("CHECKPOINT")
        [won] = await claim(store, bid(LATER, lease=None))
        assert won.won
        with psycopg.connect(dsn, autocommit=True) as app:
            app.execute("INSERT INTO written_by_the_app VALUES (1)")
        mortal.restart("immediate")
        with psycopg.connect(dsn, autocommit=True) as app:
            left = app.execute("SELECT * FROM written_by_the_app").fetchall()
        assert left == [], "the crash lost nothing: this test would pass whatever a claim does"
        assert (await until_answered(store, bid(LATER, lease=None))).ruling == "claimed"


async def test_a_server_that_is_down_is_unavailable(mortal: Postgres) -> None:
    """D-DOWN: within the claim timeout, and the store finds it again by itself."""
    async with opened(PostgresStore(mortal.dsn(mortal.new_database()))) as (store,):
        await claim(store, bid())
        mortal.stop("fast")
        for _ in range(3):
            with pytest.raises(ClaimFailed) as failed:
                await store.claim([bid(LATER)], replica=replica(), timeout=timedelta(milliseconds=1))
            assert failed.value.failure is ClaimFailure.UNAVAILABLE
        mortal.start()
        assert (await until_answered(store)).ruling == "claimed"


async def test_a_server_that_takes_no_writes_is_unavailable(postgres: Postgres) -> None:
    """D-DOWN: a standby, or a database set read-only, is no verdict on the bid."""
    name = postgres.new_database()
    async with opened(PostgresStore(postgres.dsn(name))) as (store,):
        await claim(store, bid())
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with opened(PostgresStore(postgres.dsn(name))) as (store,):
        with pytest.raises(ClaimFailed, match="25006") as failed:
            await claim(store, bid(LATER))
        assert failed.value.failure is ClaimFailure.UNAVAILABLE


@pytest.mark.parametrize("job_id", ["nul\0", "surrogate\ud800", "long" * 1000], ids=ascii)
async def test_data_the_server_will_not_take_is_refused(database: str, job_id: str) -> None:
    """C-BATCH: the engine can tell a bad bid from a bad day, and halve the batch."""
    async with opened(PostgresStore(database)) as (store,):
        with pytest.raises(ClaimFailed) as failed:
            await claim(store, bid(), bid(Tick(job_id, TICK.scheduled_at)))
        assert failed.value.failure is ClaimFailure.REFUSED
        [answer] = await claim(store, bid())
        assert answer.won


async def test_two_bids_for_one_job_are_refused(database: str) -> None:
    """C-BATCH: at most one bid a job in a statement; nothing of it lands."""
    async with opened(PostgresStore(database)) as (store,):
        with pytest.raises(ClaimFailed) as failed:
            await claim(store, bid(), bid(LATER))
        assert failed.value.failure is ClaimFailure.REFUSED
        [answer] = await claim(store, bid())
        assert answer.won


async def test_an_odd_error_text_fails_no_release(postgres: Postgres) -> None:
    """C-RELEASE: what a body raised is anybody's text; the release has to go through."""
    name = postgres.new_database()
    async with opened(PostgresStore(postgres.dsn(name))) as (store,):
        await claim(store, won := bid())
        await store.release([ended(won, "nul \0 and \ud800 surrogate")], replica=replica())
        [later] = await claim(store, bid(LATER))
        assert later.won
    [[error, verdict]] = postgres.run(
        "SELECT note, verdict FROM onebeat_ticks WHERE released_at IS NOT NULL", database=name
    )
    assert (error, verdict) == ("nul \ufffd and ? surrogate", "ran")


async def test_losers_are_told_of_conflicts_as_conflicts(postgres: Postgres) -> None:
    """D-PG: 40001 is no error of the claim; the engine asks again with the same token."""
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")
    async with opened(PostgresStore(postgres.dsn(name))) as (store,):
        await claim_and_release(store, bid())
        async with await psycopg.AsyncConnection.connect(postgres.dsn(name)) as rival:
            await rival.execute("UPDATE onebeat_jobs SET fence = fence + 1")
            asked = bid(LATER)
            asking = asyncio.create_task(store.claim([asked], replica=replica(), timeout=TIMEOUT))
            await waiting(postgres.dsn(name), 1)
        with pytest.raises(ClaimFailed, match="40001") as failed:
            await asking
        assert failed.value.failure is ClaimFailure.CONFLICT
        [answer] = await claim(store, asked)
        assert answer.won


async def until_answered(store: PostgresStore, asked: Any = None) -> Any:
    """The answer to a bid, asked again and again as the engine would."""
    for _ in range(20):
        try:
            [answer] = await store.claim([asked or bid()], replica=replica("b"), timeout=HOUR)
        except ClaimFailed as error:
            assert error.failure is ClaimFailure.UNAVAILABLE  # noqa: PT017
            await asyncio.sleep(0.05)
        else:
            return answer
    pytest.fail("the store has not found its server again")
