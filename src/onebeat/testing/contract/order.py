"""In what order ticks may be won: only forwards, or one by one where overlap is allowed."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import Ruling, Tick
from onebeat.testing.contract.bidding import MINUTE, Bidding


class OrderRules(Bidding):
    """C-ORDER and C-EARLY."""

    async def test_a_tick_older_than_the_newest_claim_is_refused(self) -> None:
        """C-ORDER: a replica frozen before its bid comes too late, though nobody ever won its tick."""
        older, newer = await self.ticks(2)
        await self.run(newer)
        assert await self.ruling(older) is Ruling.CLAIMED

    async def test_a_tick_is_refused_whatever_its_age(self) -> None:
        """C-ORDER: the watermark has no memory that ends."""
        older, newer = await self.ticks(2)
        await self.run(newer)
        for age in (timedelta(0), timedelta(days=30), timedelta(days=10_000)):
            assert await self.ruling(Tick(older.job_id, older.scheduled_at - age)) is Ruling.CLAIMED, age

    async def test_where_overlap_is_allowed_ticks_are_won_one_by_one(self) -> None:
        """C-ORDER: an older tick is not refused for a newer one, and no unreleased claim blocks it."""
        first, second, third = await self.ticks(3)
        for tick in (second, third, first):
            await self.won(tick, lease=None)
        for tick in (first, second, third):
            assert await self.ruling(tick, lease=None) is Ruling.CLAIMED, tick

    async def test_ticks_won_while_overlap_was_allowed_count_once_it_is_forbidden(self) -> None:
        """C-ORDER: a deploy that changes a job's policy gives no tick away twice."""
        first, second, third = await self.ticks(3)
        await self.won(second, lease=None)
        assert await self.ruling(second) is Ruling.CLAIMED
        assert await self.ruling(first) is Ruling.CLAIMED
        assert await self.ruling(third) is Ruling.WON

    async def test_pruning_never_revives_a_tick(self) -> None:
        """C-ORDER, D-PRUNE: neither by the watermark nor, where overlap is allowed, above the floor."""
        ticks = await self.ticks(3)
        for tick in ticks:
            await self.run(tick)
        overlapping = await self.ticks(3, "overlaps")
        for tick in overlapping:
            await self.run(tick, lease=None)
        assert await self.prune() >= 4
        for tick in (*ticks, *overlapping):
            assert await self.ruling(tick, lease=None) is Ruling.CLAIMED, tick
            assert await self.ruling(tick) is Ruling.CLAIMED, tick

    async def test_pruning_in_small_steps_never_revives_a_tick(self) -> None:
        """C-ORDER, D-PRUNE: at most *limit* rows a call, and after each of them no tick is free again."""
        ticks = await self.ticks(5, "overlaps")
        for tick in ticks:
            await self.run(tick, lease=None)
        for _ in range(4):
            assert await self.prune(limit=2) <= 2
            for tick in ticks:
                assert await self.ruling(tick, lease=None) is Ruling.CLAIMED, tick

    async def test_a_tick_later_than_the_stores_clock_is_refused_as_early(self) -> None:
        """C-EARLY: one fast clock neither runs a job ahead of time nor blocks the honest replicas."""
        now = await self.store_time()
        early = Tick("report", now + self.tolerance + MINUTE)
        assert await self.ruling(early) is Ruling.EARLY
        assert await self.ruling(early, lease=None) is Ruling.EARLY
        honest = await self.won(Tick("report", now))
        assert honest.previous_at is None

    async def test_a_tick_within_the_tolerance_is_not_early(self) -> None:
        """C-EARLY: clocks that differ a little are normal."""
        now = await self.store_time()
        assert await self.ruling(Tick("report", now + 0.8 * self.tolerance)) is Ruling.WON
