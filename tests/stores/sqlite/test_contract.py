"""The SQLite store keeps the contract, through two handles on one file."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from onebeat.claims import ClaimStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract


class TestSqliteStore(ClaimStoreContract):
    @pytest.fixture(autouse=True)
    async def given(self, tmp_path: Path) -> AsyncIterator[None]:
        self.clock = FakeClock()
        self.store = SqliteStore(tmp_path / "claims.db", clock=self.clock)
        self.other = SqliteStore(tmp_path / "claims.db", clock=self.clock)
        yield
        await self.store.close()
        await self.other.close()

    def handles(self) -> Sequence[ClaimStore]:
        return self.store, self.other

    async def pass_time(self, seconds: float) -> None:
        await self.clock.advance(seconds=seconds)

    async def test_a_restart_with_a_slow_clock_wins_no_tick_twice(self) -> None:
        """C-ONE, D-LITE: what was claimed is in the file."""
        ticks = await self.ticks(3)
        for tick in ticks:
            await self.run(tick)
        await self.store.close()
        self.clock.step(hours=-1)
        for tick in ticks:
            assert not (await self.bid(tick)).won
