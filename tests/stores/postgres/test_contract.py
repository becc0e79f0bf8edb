"""D-SAME, D-POOL: the published contract, through every driver, a pooler, and an app's odd defaults.

Replicas die through one driver alone, at every level of isolation: that is really waited for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import asyncpg  # type: ignore[import-untyped]
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from onebeat.claims import ClaimStore
from onebeat.stores.postgres import PostgresStore
from onebeat.testing.contract import ClaimStoreContract
from onebeat.testing.contract.upkeep import UpkeepRules
from onebeat.testing.contract.winning import WinningRules
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres


@pytest.fixture(scope="module")
def database_name(postgres: Postgres) -> str:
    """One database for all of them: each test keeps to an app of its own."""
    return postgres.new_database()


@pytest.fixture(scope="module")
def dsn(postgres: Postgres, database_name: str) -> str:
    return postgres.dsn(database_name)


@pytest.fixture(scope="module")
def odd_database_name(postgres: Postgres) -> str:
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    postgres.run(f"ALTER DATABASE {name} SET synchronous_commit = off")
    return name


class TestDsn(ClaimStoreContract):
    """Four handles, each with connections of its own, as four processes would have."""

    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        self.stores = [PostgresStore(dsn) for _ in range(4)]
        self.store = self.stores[0]
        yield
        for store in self.stores:
            await store.close()

    def handles(self) -> Sequence[ClaimStore]:
        return self.stores


class TestPsycopgAsyncPool(ClaimStoreContract):
    deaths = False

    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        async with AsyncConnectionPool(dsn, min_size=1, max_size=4, open=False) as pool:
            self.store = PostgresStore(pool)
            yield


class TestPsycopgSyncPool(ClaimStoreContract):
    deaths = False

    @pytest.fixture(autouse=True)
    def given(self, dsn: str) -> Iterator[None]:
        with ConnectionPool(dsn, min_size=1, max_size=4, open=False) as pool:
            self.store = PostgresStore(pool)
            yield


class TestAsyncpgPool(ClaimStoreContract):
    deaths = False

    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        async with asyncpg.create_pool(dsn, min_size=1, max_size=4) as pool:
            self.store = PostgresStore(pool)
            yield


class TestSqlalchemyEngine(ClaimStoreContract):
    deaths = False

    @pytest.fixture(autouse=True)
    def given(self, dsn: str) -> Iterator[None]:
        engine = create_engine(dsn.replace("postgresql", "postgresql+psycopg"))
        self.store = PostgresStore(engine)
        yield
        engine.dispose()


class TestSqlalchemyAsyncEngineOverPsycopg(ClaimStoreContract):
    driver = "psycopg"
    deaths = False

    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        engine = create_async_engine(dsn.replace("postgresql", f"postgresql+{self.driver}"))
        self.store = PostgresStore(engine)
        yield
        await engine.dispose()


class TestSqlalchemyAsyncEngineOverAsyncpg(TestSqlalchemyAsyncEngineOverPsycopg):
    driver = "asyncpg"


class TestDsnThroughPgBouncer(TestDsn):
    """D-PG: PgBouncer in transaction mode, which shares few connections among all clients."""

    deaths = False

    @pytest.fixture
    def dsn(self, pgbouncer: PgBouncer, database_name: str) -> str:
        return pgbouncer.dsn(database_name)


class TestAsyncpgPoolThroughPgBouncer(WinningRules):
    """D-PG: even with asyncpg's cache of prepared statements left on."""

    @pytest.fixture(autouse=True)
    async def given(self, pgbouncer: PgBouncer, database_name: str) -> AsyncIterator[None]:
        async with asyncpg.create_pool(pgbouncer.dsn(database_name), min_size=1, max_size=8) as pool:
            self.store = PostgresStore(pool)
            yield


class TestUnderAnAppsOwnDefaults(TestDsn):
    """D-PG: isolation is not assumed, and a claim is durable whatever the app has chosen for itself."""

    @pytest.fixture
    def dsn(self, postgres: Postgres, odd_database_name: str) -> str:
        return postgres.dsn(odd_database_name)


class TestInASchema(UpkeepRules):
    """D-PG: the tables may stand in a schema of their own, whatever its name."""

    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        self.store = PostgresStore(dsn, schema='the app\'s "own"')
        yield
        await self.store.close()
