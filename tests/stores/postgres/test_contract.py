"""D-SAME, D-POOL: the published contract, through every driver, pooler and default."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.servers.postgres import Postgres

from onebeat.stores.postgres import PostgresStore
from onebeat.testing.contract import ClaimStoreContract


@pytest.fixture(scope="module")
def dsn(postgres: Postgres) -> str:
    return postgres.dsn(postgres.new_database())


class TestDsn(ClaimStoreContract):
    @pytest.fixture(autouse=True)
    async def given(self, dsn: str) -> AsyncIterator[None]:
        self.store = PostgresStore(dsn)
        yield
        await self.store.close()
