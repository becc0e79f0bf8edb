"""D-POOL: what the app hands over is used politely, and given back as it was."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import create_async_engine

from onebeat.errors import InvalidSetting
from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore, migrate
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import TICK, bid, claim, claim_and_release, ended, opened, replica

PREPARED = "SELECT count(*) FROM pg_prepared_statements"


async def test_a_borrowed_connection_goes_back_as_it_was(database: str) -> None:
    """D-POOL: autocommit and row factory are the app's again, and nothing prepared stays behind."""
    options = {"row_factory": dict_row, "prepare_threshold": 0}
    async with AsyncConnectionPool(database, min_size=1, max_size=1, kwargs=options, open=False) as pool:
        async with opened(PostgresStore(pool)) as (store,):
            await claim(store, bid())
        async with pool.connection() as connection:
            assert not connection.autocommit
            assert connection.info.transaction_status.name == "IDLE"
            cursor = await connection.execute(PREPARED, prepare=False)
            assert str(await cursor.fetchone()) == "{'count': 0}"


def test_a_sync_pool_serves_any_loop(database: str) -> None:
    """D-POOL: and its connections too go back as they were."""
    with ConnectionPool(database, min_size=1, max_size=1, open=False) as pool:
        store = PostgresStore(pool)
        for _ in range(2):
            asyncio.run(claim_and_release(store, bid()))
        with pool.connection() as connection:
            assert not connection.autocommit
            assert connection.execute(PREPARED).fetchone() == (0,)


async def test_an_asyncpg_pool_keeps_nothing_prepared(database: str) -> None:
    """D-PG, D-POOL: no named statement is left on a connection that a pooler may give to others."""
    async with asyncpg.create_pool(database, min_size=1, max_size=1, statement_cache_size=0) as pool:
        await claim(PostgresStore(pool), bid())
        assert await pool.fetchval(PREPARED) == 0


@pytest.mark.parametrize(
    "options", [{}, {"isolation_level": "SERIALIZABLE"}, {"pool_pre_ping": True}], ids=str
)
async def test_an_engine_keeps_its_own_ways(database: str, options: dict[str, object]) -> None:
    """D-POOL: neither its isolation level nor its transactions are ours to change, nor its to give us."""
    engine = create_engine(database.replace("postgresql", "postgresql+psycopg"), pool_size=1, **options)
    await claim(PostgresStore(engine), bid())
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, psycopg.Connection)
        assert not raw.autocommit
        assert connection.execute(text("SELECT count(*) FROM onebeat_jobs")).scalar() == 1
    engine.dispose()


async def test_a_claim_stays_out_of_the_apps_open_transaction(database: str) -> None:
    """D-POOL: it commits at once, whatever the app does with a transaction of its own afterwards."""
    async with AsyncConnectionPool(database, min_size=2, max_size=2, open=False) as pool:
        store = PostgresStore(pool)
        async with pool.connection() as app:
            await app.execute("SELECT 1")
            await claim(store, bid())
            await app.rollback()
        [answer] = await claim(store, bid(), by="b")
        assert answer.ruling == "claimed"


async def test_a_claim_is_one_statement_and_so_is_a_release(postgres: Postgres) -> None:
    """C-BATCH, D-PG: for any number of ticks, no BEGIN before, no COMMIT after it."""
    name = postgres.new_database()
    await migrate(postgres.dsn(name))
    postgres.run(f"ALTER DATABASE {name} SET log_statement = 'all'")
    async with AsyncConnectionPool(postgres.dsn(name), min_size=1, max_size=1, open=False) as pool:
        store = PostgresStore(pool)
        await claim(store, bid())
        before = len(postgres.logged(name))
        bids = [bid(Tick(f"job-{n}", TICK.scheduled_at)) for n in range(200)]
        assert all(answer.won for answer in await claim(store, *bids))
        await store.release([ended(one) for one in bids], replica=replica())
        statements = [line for line in postgres.logged(name)[before:] if line.startswith("LOG:  ")]
        assert len(statements) == 2, statements


def test_a_label_tells_the_place_and_no_password() -> None:
    """T-LOG: for every kind of target."""
    url = "postgresql://user:secret@db.example:5433/orders"
    pools = [
        ConnectionPool(url, open=False),
        AsyncConnectionPool(url, open=False),
        create_engine(url.replace("postgresql", "postgresql+psycopg")),
        create_async_engine(url.replace("postgresql", "postgresql+asyncpg")),
    ]
    for target in (url, *pools):
        assert PostgresStore(target).label == "postgresql://db.example:5433/orders"


async def test_a_pool_that_belongs_to_its_loop_says_so(database: str) -> None:
    """D-POOL: `start_background` refuses it by this name; a DSN and a sync pool serve any loop."""
    url = database.replace("postgresql", "postgresql+psycopg")
    async with asyncpg.create_pool(database, min_size=0) as pool:
        assert PostgresStore(pool).loop_bound == "asyncpg.Pool"
    unopened = AsyncConnectionPool(database, open=False)
    assert PostgresStore(unopened).loop_bound == "psycopg_pool.AsyncConnectionPool"
    assert PostgresStore(create_async_engine(url)).loop_bound == "sqlalchemy.ext.asyncio.AsyncEngine"
    for target in (database, ConnectionPool(database, open=False), create_engine(url)):
        assert PostgresStore(target).loop_bound is None


def test_a_dsn_serves_one_loop_after_another(database: str) -> None:
    """D-POOL: its pool is opened anew in each."""
    store = PostgresStore(database)

    async def once() -> None:
        await claim_and_release(store, bid())
        await store.close()

    asyncio.run(once())
    asyncio.run(once())


def test_an_engine_on_another_driver_is_refused() -> None:
    """D-POOL: at construction, with what would do."""
    with pytest.raises(InvalidSetting, match=r"postgresql\+psycopg"):
        PostgresStore(create_engine("sqlite://"))


def test_after_a_fork_a_dsn_opens_anew_and_a_pool_is_refused(database: str) -> None:
    """C-ID: the child uses none of its parent's connections, and the parent goes on with them."""
    script = """
        import asyncio, os, sys
        from psycopg_pool import ConnectionPool
        from onebeat.errors import ClaimFailed
        from onebeat.stores.postgres import PostgresStore
        from tests.stores.postgres.given import bid, claim_and_release

        async def in_child(by_dsn, by_pool):
            await claim_and_release(by_dsn, bid())
            await by_dsn.close()
            try:
                await claim_and_release(by_pool, bid())
            except ClaimFailed as error:
                return 0 if "fork" in str(error) else 1
            return 1

        async def main():
            pool = ConnectionPool(sys.argv[1], open=True)
            by_dsn, by_pool = PostgresStore(sys.argv[1]), PostgresStore(pool)
            await claim_and_release(by_dsn, bid())
            await claim_and_release(by_pool, bid())
            child = os.fork()
            if child == 0:
                asyncio._set_running_loop(None)
                status = 1
                try:
                    status = asyncio.run(in_child(by_dsn, by_pool))
                finally:
                    os._exit(status)
            _, status = await asyncio.to_thread(os.waitpid, child, 0)
            assert status == 0
            await claim_and_release(by_dsn, bid())
            await by_dsn.close()
            pool.close()

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), database],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
