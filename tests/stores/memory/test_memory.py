"""The memory store keeps the contract, from any thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from onebeat.model import Answer, Bid, Replica, Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract
from onebeat.testing.contract.bidding import HOUR


class TestMemoryStore(ClaimStoreContract):
    @pytest.fixture(autouse=True)
    def given(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(clock=self.clock)

    async def pass_time(self, seconds: float) -> None:
        await self.clock.advance(seconds=seconds)

    async def test_a_clock_set_back_wins_no_tick_twice(self) -> None:
        """C-ONE: a restart with a slow clock."""
        ticks = await self.ticks(3)
        for tick in ticks:
            await self.run(tick)
        self.clock.step(hours=-1)
        for tick in ticks:
            assert not (await self.bid(tick)).won

    async def test_the_fence_grows_though_the_clock_was_set_back(self) -> None:
        """F-FENCE: the clock is its lower bound, not its value."""
        first, second = await self.ticks(2)
        ahead = await self.run(first)
        self.clock.step(hours=-1)
        assert (await self.run(second)).fence == ahead.fence + 1

    async def test_repair_counts_a_lease_of_a_wrong_clock_from_now(self) -> None:
        """C-EARLY, C-LEASE: else a clock that led by a year would block its job for a year."""
        now = await self.store_time()
        self.clock.step(days=365)
        await self.won(Tick("report", await self.store_time()))
        self.clock.step(days=-365)
        assert await self.store.repair(app=self.app, job_id="report")
        tick = Tick("report", now)
        assert (await self.bid(tick)).ruling == "overlapped"
        self.clock.step(hours=1)
        assert (await self.bid(tick)).won


def test_threads_with_loops_of_their_own_share_one_store() -> None:
    """C-ONE, D-MEM: several schedulers in one process."""
    clock = FakeClock()
    store = MemoryStore(clock=clock)
    ticks = [Tick(f"job-{n}", clock.now()) for n in range(50)]

    def bid_for_all(name: str) -> list[Answer]:
        bids = [Bid(tick, f"{name}-{tick.job_id}", HOUR) for tick in ticks]
        replica = Replica("default", name, name)

        async def ask() -> list[Answer]:
            return [
                answer for bid in bids for answer in await store.claim([bid], replica=replica, timeout=HOUR)
            ]

        return asyncio.run(ask())

    with ThreadPoolExecutor(4) as threads:
        answers = [answer for batch in threads.map(bid_for_all, "abcd") for answer in batch]
    assert sorted(answer.tick for answer in answers if answer.won) == sorted(ticks)
