"""What keeps a store small and sound: pruning, repair."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import Ruling, Tick
from onebeat.testing.contract.bidding import HOUR, Bidding


class UpkeepRules(Bidding):
    """D-PRUNE and `onebeat repair`."""

    async def test_pruning_deletes_old_ticks_and_no_more_than_it_may(self) -> None:
        """D-PRUNE: at most *limit* a call, until nothing is left to delete."""
        for tick in await self.ticks(5):
            await self.run(tick, lease=None)
        deleted = [await self.prune(limit=2) for _ in range(5)]
        assert all(count <= 2 for count in deleted), deleted
        assert 4 <= sum(deleted) <= 5, deleted
        assert deleted[-1] == 0

    async def test_pruning_keeps_what_is_young(self) -> None:
        """D-PRUNE: by age alone."""
        now = await self.store_time()
        await self.run(Tick("report", now - timedelta(minutes=5)))
        assert await self.store.prune(app=self.app, keep=HOUR, limit=10) == 0

    async def test_pruning_keeps_an_unreleased_claim(self) -> None:
        """D-PRUNE: its token is still told its answer, its release still counts, its lease still blocks."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        overlapping = (await self.ticks(2, "overlaps"))[0]
        other = await self.won(overlapping, lease=None)
        assert await self.prune() == 0
        again = await self.bid(overlapping, other.token, lease=None)
        assert (again.ruling, again.fence) == (Ruling.WON, other.fence)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        await self.release(first, answer.token)
        assert await self.ruling(second) is Ruling.WON

    async def test_pruning_leaves_the_watermark_and_the_fence(self) -> None:
        """D-PRUNE, F-FENCE: the next winner is told the pruned tick, and gets a higher fence."""
        first, second = await self.ticks(2)
        pruned = await self.run(first)
        await self.prune()
        newest = await self.won(second)
        assert newest.previous_at == first.scheduled_at
        assert newest.fence > pruned.fence

    async def test_repair_takes_a_watermark_back_to_the_stores_clock(self) -> None:
        """C-EARLY: the ticks that a wrong clock ran past can be won again, those it won stay won."""
        now = await self.store_time()
        behind, reached, ahead = (
            Tick("report", now + delta) for delta in (-2 * HOUR, -HOUR, 0.9 * self.tolerance)
        )
        await self.run(behind)
        wrong = await self.run(ahead)
        assert await self.ruling(reached) is Ruling.CLAIMED
        assert await self.store.repair(app=self.app, job_id="report")
        repaired = await self.won(reached)
        assert repaired.previous_at == behind.scheduled_at
        assert repaired.fence > wrong.fence
        await self.release(reached, repaired.token)
        assert await self.ruling(ahead) is Ruling.CLAIMED
        assert (await self.bid(ahead, wrong.token)).ruling is Ruling.WON
        assert await self.ruling(behind) is Ruling.CLAIMED

    async def test_there_is_nothing_to_repair_where_no_watermark_is_ahead(self) -> None:
        """C-EARLY: a sound job and an unknown one are left alone."""
        first, second = await self.ticks(2)
        await self.run(first)
        assert not await self.store.repair(app=self.app, job_id="report")
        assert not await self.store.repair(app=self.app, job_id="unknown")
        assert (await self.won(second)).previous_at == first.scheduled_at

    async def test_repair_revives_no_pruned_tick(self) -> None:
        """C-ORDER, C-EARLY: the floor stands."""
        [pruned] = await self.ticks(1)
        await self.run(pruned)
        await self.prune()
        await self.run(Tick("report", (await self.store_time()) + 0.9 * self.tolerance))
        assert await self.store.repair(app=self.app, job_id="report")
        assert await self.ruling(pruned) is Ruling.CLAIMED
        assert await self.ruling(pruned, lease=None) is Ruling.CLAIMED

    async def test_a_label_names_the_store(self) -> None:
        """T-LOG: it is what people read at start."""
        assert self.store.label
