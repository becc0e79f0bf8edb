"""What is kept by count."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import Record, Ruling, Verdict
from onebeat.testing.contract.living import Living


class CountedPruneRules(Living):
    """D-PRUNE: the newest rows of each job, however young the others are."""

    async def test_pruning_by_count_leaves_the_newest_of_each_job(self) -> None:
        """D-PRUNE: run or not; and of a job with few rows all."""
        many, few = await self.ticks(6), await self.ticks(2, "another")
        for tick in (*many[:4], *few):
            await self.run(tick)
        await self.fleet.record(
            [Record(tick, Verdict.OVERLAPPED) for tick in many[4:]], replica=self.replica()
        )
        assert await self.prune_to(3) == 3
        assert sorted(await self.found()) == sorted([*many[3:], *few])
        assert await self.prune_to(3) == 0

    async def test_pruning_by_count_revives_no_tick(self) -> None:
        """D-PRUNE, C-ORDER: the floor rises here too, and every step is within its limit."""
        ticks = await self.ticks(7, "overlaps")
        for tick in ticks:
            await self.run(tick, lease=None)
        deleted = [await self.prune_to(2, limit=2) for _ in range(4)]
        assert all(count <= 2 for count in deleted), deleted
        assert sum(deleted) == 5
        for tick in ticks:
            assert await self.ruling(tick, lease=None) is Ruling.CLAIMED, tick

    async def test_pruning_by_count_keeps_an_unreleased_claim(self) -> None:
        """D-PRUNE: however many newer rows there are."""
        held, *others = await self.ticks(4, "overlaps")
        answer = await self.won(held, lease=None)
        for tick in others:
            await self.run(tick, lease=None)
        assert await self.prune_to(1) == 2
        assert (await self.bid(held, answer.token, lease=None)).fence == answer.fence
        await self.release(held, answer.token)
        assert await self.prune_to(1) == 1
        assert await self.ruling(held, lease=None) is Ruling.CLAIMED

    async def test_pruning_by_count_stays_within_its_limit_whatever_the_jobs(self) -> None:
        """D-PRUNE: of all of them together."""
        for job_id in ("a", "b", "c"):
            for tick in await self.ticks(3, job_id):
                await self.run(tick)
        assert [await self.prune_to(1, limit=5), await self.prune_to(1, limit=5)] == [5, 1]

    async def prune_to(self, most: int, *, limit: int = 100) -> int:
        keep = timedelta(days=3)
        return await self.store.prune(app=self.app, keep=keep, most=most, limit=limit)
