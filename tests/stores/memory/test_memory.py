"""The memory store keeps the contract, from any thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from onebeat.control import Target
from onebeat.fleet import Facts, Registration
from onebeat.model import Answer, Bid, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract
from onebeat.testing.contract.bidding import HOUR

JOB = Registration("report", "0 2 * * *", "digest")
INSTANT = datetime(2026, 1, 1, tzinfo=UTC)


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

    async def test_a_clock_set_back_neither_holds_a_trigger_up_nor_mixes_it_with_a_later_one(self) -> None:
        """F-PAUSE: it lies ahead of the clock then, and the next one after it."""
        await self.join("report")
        tick = await self.trigger()
        self.clock.step(hours=-1)
        answer = await self.bid_triggered(tick, HOUR)
        assert answer.won
        await self.finish(tick, answer.token, Verdict.RAN)
        assert await self.trigger() > tick

    async def test_repair_takes_no_watermark_to_a_trigger(self) -> None:
        """C-EARLY, F-PAUSE: it is no tick of the schedule."""
        [tick] = await self.ticks(1)
        await self.run(tick)
        await self.join("report")
        triggered = await self.trigger()
        answer = await self.bid_triggered(triggered, HOUR)
        await self.finish(triggered, answer.token, Verdict.RAN)
        await self.clock.advance(seconds=1)
        self.clock.step(days=1)
        await self.run(Tick("report", self.clock.now()))
        self.clock.step(days=-1)
        assert await self.store.repair(app=self.app, job_id="report")
        assert (await self.state()).watermark == tick.scheduled_at

    async def test_a_lost_run_keeps_its_replica_known_until_it_is_pruned(self) -> None:
        """D-PRUNE: the dead are forgotten with their ticks, and not before they were buried."""
        [tick] = await self.ticks(1)
        await self.lost(tick)
        assert "id-of-b" in [replica.id for replica in await self.history.replicas(app=self.app)]
        await self.fleet.leave(replica=self.replica("judge"))
        await self.prune()
        known = [replica.id for replica in await self.history.replicas(app=self.app)]
        assert known == ["id-of-judge"], "nobody has looked yet at what it left"

    async def test_the_audit_is_kept_for_a_month_at_least(self) -> None:
        """D-PRUNE: however short ticks are kept."""
        await self.pause(Target.app())
        await self.clock.advance(days=29)
        await self.prune()
        assert len(await self.audit()) == 1
        await self.clock.advance(days=2)
        assert await self.store.prune(app=self.app, keep=timedelta(days=40), limit=1) == 0
        assert len(await self.audit()) == 1
        await self.prune()
        assert len(await self.audit()) == 0


async def test_whoever_listens_hears_what_is_asked_for_at_once() -> None:
    """F-PAUSE: also what was asked while nobody listened, on each loop; and nothing twice."""
    store = MemoryStore(clock=FakeClock())
    await store.join([JOB], replica=Replica("app", "id", "a"), facts=Facts("2", "2026a", 1), now=INSTANT)
    listeners = [asyncio.create_task(store.asked(app="app")) for _ in range(2)]
    elsewhere = asyncio.create_task(asyncio.to_thread(asyncio.run, store.asked(app="app")))
    await asyncio.sleep(0)
    await store.trigger("report", app="app", by="ada", reason="now", force=False)
    await asyncio.gather(*listeners, elsewhere)
    again = asyncio.create_task(store.asked(app="app"))
    await asyncio.sleep(0)
    assert not again.done()
    await store.cancel("report", app="app", by="ada", reason="no", scheduled_at=None)
    await again
    await store.trigger("report", app="app", by="ada", reason="unheard", force=False)
    await store.asked(app="app")


async def test_a_listener_that_gives_up_is_forgotten() -> None:
    """F-PAUSE: its loop may be gone by the time somebody asks."""
    store = MemoryStore(clock=FakeClock())
    await store.join([JOB], replica=Replica("app", "id", "a"), facts=Facts("2", "2026a", 1), now=INSTANT)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store.asked(app="app"), 0.001)

    await asyncio.to_thread(asyncio.run, give_up())
    await store.trigger("report", app="app", by="ada", reason="now", force=False)


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
