"""Who wins: one replica a tick, whatever the order, the batch or the app."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from onebeat.model import Bid, Ruling, Tick
from onebeat.testing.contract.bidding import HOUR, MINUTE, Bidding, token


class WinningRules(Bidding):
    """C-ONE, C-BATCH, C-APP, F-FENCE and what an answer says."""

    async def test_of_twenty_rivals_exactly_one_wins_a_tick(self) -> None:
        """C-ONE: whatever handle on the store each of them uses."""
        [tick] = await self.ticks(1)
        rivals = [self.bid(tick, by=f"r{n}", store=self.handle(n)) for n in range(20)]
        answers = await asyncio.gather(*rivals)
        assert [answer.won for answer in answers].count(True) == 1, answers
        assert {answer.ruling for answer in answers} == {Ruling.WON, Ruling.CLAIMED}, answers

    async def test_of_twenty_rivals_exactly_one_wins_a_tick_that_may_overlap(self) -> None:
        """C-ONE: with overlap allowed as well."""
        [tick] = await self.ticks(1)
        rivals = [self.bid(tick, lease=None, store=self.handle(n)) for n in range(20)]
        answers = await asyncio.gather(*rivals)
        assert [answer.won for answer in answers].count(True) == 1, answers

    async def test_a_tick_is_won_once_however_often_it_is_bid_for_afterwards(self) -> None:
        """C-ONE: after the release and after later ticks, by anyone, in any order."""
        ticks = await self.ticks(5)
        for tick in ticks:
            await self.run(tick)
        for tick in random.Random(5).sample(ticks, k=5):
            assert await self.ruling(tick) is Ruling.CLAIMED, tick
            assert await self.ruling(tick, lease=None) is Ruling.CLAIMED, tick

    async def test_each_job_has_one_winner_when_batches_race_in_random_order(self) -> None:
        """C-ONE: rivals that lock the same jobs in different orders neither deadlock nor win twice."""
        first = (await self.ticks(1))[0].scheduled_at
        jobs = [Tick(f"job-{n:03}", first) for n in range(100)]
        shuffle = random.Random(7)
        batches = [[Bid(tick, token(), HOUR) for tick in shuffle.sample(jobs, k=100)] for _ in range(8)]
        rivals = [self.bid_all(batch, by=f"r{n}", store=self.handle(n)) for n, batch in enumerate(batches)]
        answers = [answer for batch in await asyncio.gather(*rivals) for answer in batch]
        assert sorted(answer.tick for answer in answers if answer.won) == jobs

    async def test_answers_come_in_the_order_of_the_bids(self) -> None:
        """C-BATCH: one answer a bid, each with its bid's tick and token."""
        first = (await self.ticks(1))[0].scheduled_at
        await self.won(Tick("m", first))
        bids = [Bid(Tick(job_id, first), token(), HOUR) for job_id in ("z", "m", "a", "q")]
        answers = await self.bid_all(bids, by="b")
        assert [(answer.tick, answer.token) for answer in answers] == [(bid.tick, bid.token) for bid in bids]
        assert [answer.won for answer in answers] == [True, False, True, True]

    async def test_a_thousand_bids_are_one_batch(self) -> None:
        """C-BATCH: all won at once, then all released at once."""
        first = (await self.ticks(1))[0].scheduled_at
        bids = [Bid(Tick(f"job-{n:04}", first), token(), HOUR) for n in range(1000)]
        answers = await self.bid_all(bids)
        assert all(answer.won for answer in answers)
        await self.store.release([self.ended(bid.tick, bid.token) for bid in bids], replica=self.replica())
        later = [Bid(Tick(bid.tick.job_id, first + MINUTE), token(), HOUR) for bid in bids]
        assert all(answer.won for answer in await self.bid_all(later, by="b"))

    async def test_an_empty_batch_has_no_answers(self) -> None:
        """C-BATCH: asking nothing and releasing nothing is harmless."""
        assert list(await self.bid_all([])) == []
        await self.store.release([], replica=self.replica())

    async def test_apps_do_not_see_each_other(self) -> None:
        """C-APP: the same job and tick of another app is another tick; so are its lease and its release."""
        first, second = await self.ticks(2)
        here = await self.won(first)
        there = await self.bid(first, app=self.app + "-other")
        assert there.won
        assert there.previous_at is None
        await self.store.release(
            [self.ended(first, here.token)], replica=self.replica("a", self.app + "-other")
        )
        assert await self.ruling(second) is Ruling.OVERLAPPED
        assert await self.store.prune(app=self.app + "-none", keep=timedelta(microseconds=1), limit=10) == 0

    async def test_a_loser_learns_who_has_the_tick(self) -> None:
        """C-ID: by the winner's label, and only a label."""
        [tick] = await self.ticks(1)
        await self.won(tick, by="winner")
        assert (await self.bid(tick, by="loser")).claimed_by == "winner"

    async def test_the_fence_grows_with_every_claim_of_a_job(self) -> None:
        """F-FENCE: whether overlap is allowed or forbidden, and starts no lower than the store's clock."""
        answers = [await self.run(tick) for tick in await self.ticks(6)]
        older, newer = await self.ticks(2, "overlaps")
        overlapping = [await self.won(newer, lease=None), await self.won(older, lease=None)]
        for fences in ([answer.fence for answer in answers], [answer.fence for answer in overlapping]):
            assert fences == sorted(set(fences)), fences
            assert fences[0] > 10**15, "the fence must survive a move to another store: start at the clock"

    async def test_a_win_tells_the_watermark_it_moved(self) -> None:
        """F-VERDICT: `previous_at` is the job's watermark before the claim, `watermark` the one after it."""
        first, second = await self.ticks(2)
        newcomer = await self.run(first)
        assert (newcomer.previous_at, newcomer.watermark) == (None, first.scheduled_at)
        follower = await self.run(second)
        assert (follower.previous_at, follower.watermark) == (first.scheduled_at, second.scheduled_at)
        assert follower.attempt == 1
        assert (await self.bid(first, by="late")).watermark == second.scheduled_at
