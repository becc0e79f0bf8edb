"""What becomes of the runs of those who died."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onebeat.control import Target
from onebeat.model import Bid, Ruling, Verdict, Wanted
from onebeat.testing.contract.bidding import token
from onebeat.testing.contract.living import Living


class CrashRules(Living):
    """C-CRASH: a tick is lost with its holder, and run again only where that was asked for."""

    async def test_a_tick_whose_holder_died_is_lost(self) -> None:
        """C-CRASH, F-VERDICT: finally, at most once; its job goes on."""
        first, second = await self.ticks(2)
        answer = await self.lost(first, rerun=False)
        row = await self.recorded(first)
        assert (row.verdict, row.provisional, row.wanted) == (Verdict.LOST, False, None)
        assert (row.replica, row.attempt, row.fence) == ("b", 1, answer.fence)
        assert row.note
        await self.join("report")
        assert await self.orders() == ()
        assert await self.ruling(first) is Ruling.CLAIMED
        await self.won(second)

    async def test_a_lost_tick_is_told_once(self) -> None:
        """C-CRASH: of all who bury, to one."""
        [tick] = await self.ticks(1)
        await self.lost(tick)
        for _ in range(2):
            assert await self.bury() == []

    async def test_what_the_dead_held_is_lost_and_no_more(self) -> None:
        """C-CRASH: what it had released keeps its verdict, what others hold goes on."""
        ended, *held = await self.ticks(4, "overlaps")
        [others] = await self.ticks(1)
        await self.join("report", "overlaps", by="b")
        await self.finish(ended, (await self.won(ended, by="b", lease=None)).token, Verdict.FAILED, by="b")
        for tick in held:
            await self.won(tick, by="b", lease=None)
        await self.join("report", by="c")
        await self.won(others, by="c")
        buried = await self.death_of("b", while_living=["c"])
        assert sorted(one.tick for one in buried) == held
        assert (await self.recorded(ended)).verdict is Verdict.FAILED
        assert (await self.recorded(others)).verdict is None

    async def test_of_many_one_runs_a_lost_tick_again(self) -> None:
        """C-CRASH, C-ONE: as the next attempt, which everybody is told of."""
        before, tick = await self.ticks(2)
        await self.run(before)
        answer = await self.lost(tick)
        for name in ("a", "c"):
            await self.join("report", by=name)
            [order] = await self.orders(name)
            assert (order.wanted, order.tick, order.attempt) == (Wanted.RERUN, tick, 2)
        rivals = [self.bid_attempt(tick, by=f"r{n}", handle=n) for n in range(12)]
        won = [rival for rival in await asyncio.gather(*rivals) if rival.won]
        assert [(one.attempt, one.previous_at) for one in won] == [(2, before.scheduled_at)]
        assert won[0].fence > answer.fence
        assert await self.orders() == ()
        row = await self.recorded(tick)
        assert (row.attempt, row.verdict, row.wanted, row.note) == (2, None, None, None)

    async def test_an_attempt_asked_again_gets_its_answer_again(self) -> None:
        """C-TOKEN: and nobody gets it twice, nor the one before it."""
        [tick] = await self.ticks(1)
        lost = await self.lost(tick)
        won = await self.bid_attempt(tick)
        again = await self.bid_attempt(tick, token_=won.token)
        assert (again.ruling, again.fence, again.attempt) == (Ruling.WON, won.fence, 2)
        assert not (await self.bid_attempt(tick)).won
        assert not (await self.bid(tick, lost.token, by="b")).won
        await self.finish(tick, won.token, Verdict.RAN)
        assert not (await self.bid_attempt(tick)).won
        assert (await self.bid_attempt(tick, token_=won.token)).fence == won.fence

    async def test_attempts_are_won_one_after_the_other(self) -> None:
        """C-CRASH: none before the one before it was lost, and none left out."""
        [tick] = await self.ticks(1)
        assert not (await self.bid_attempt(tick)).won
        await self.lost(tick)
        assert not (await self.bid_attempt(tick, 3)).won
        await self.join("report", by="c")
        assert (await self.bid_attempt(tick, by="c")).won
        assert not (await self.bid_attempt(tick, 3)).won
        [buried] = await self.death_of("c")
        assert (buried.tick, buried.attempt) == (tick, 2)
        assert not (await self.bid_attempt(tick)).won
        assert (await self.bid_attempt(tick, 3)).won

    async def test_what_was_not_lost_is_not_run_again(self) -> None:
        """C-CRASH, C-ONE: neither what runs, under a lease or not, nor what has ended, well or not."""
        [ran], [failed], [running] = [await self.ticks(1, job_id) for job_id in ("ran", "failed", "running")]
        await self.run(ran)
        await self.finish(failed, (await self.won(failed)).token, Verdict.FAILED)
        await self.won(running, lease=None)
        for tick in (ran, failed, running):
            assert (await self.bid_attempt(tick)).ruling is Ruling.CLAIMED

    async def test_the_next_tick_starts_with_a_first_attempt(self) -> None:
        """C-CRASH: however many the tick before it took."""
        first, second = await self.ticks(2)
        await self.lost(first)
        again = await self.bid_attempt(first)
        await self.finish(first, again.token, Verdict.RAN)
        assert (await self.lost(second, by="c")).attempt == 1
        assert not (await self.bid_attempt(second, 3)).won
        assert (await self.bid_attempt(second)).attempt == 2

    async def test_a_lost_tick_is_over_once_a_later_was_claimed(self) -> None:
        """C-CRASH, C-ORDER: the job has gone on."""
        first, second = await self.ticks(2)
        await self.lost(first)
        await self.join("report")
        await self.won(second, lease=None)
        assert await self.orders() == ()
        assert not (await self.bid_attempt(first)).won
        assert (await self.recorded(first)).verdict is Verdict.LOST

    async def test_the_next_tick_waits_for_the_run_of_a_lost_one(self) -> None:
        """C-CRASH, C-LEASE: the lost one's lease is kept for a while for whoever runs it again."""
        first, second = await self.ticks(2)
        await self.lost(first)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        again = await self.bid_attempt(first)
        assert again.won
        await self.finish(first, again.token, Verdict.RAN)
        await self.won(second)

    async def test_what_is_not_to_be_run_again_keeps_no_lease(self) -> None:
        """C-CRASH: the job goes on at once."""
        first, second = await self.ticks(2)
        await self.lost(first, rerun=False)
        await self.won(second)

    async def test_a_tick_is_not_wanted_again_when_a_later_one_was_claimed_before(self) -> None:
        """C-CRASH, C-ORDER: the holder died after its job had gone on."""
        first, second = await self.ticks(2)
        await self.join("report", by="b")
        [answer] = await self.bid_all([Bid(first, token(), timedelta(seconds=0.01), rerun=True)], by="b")
        assert answer.won
        await self.pass_time(0.05)
        await self.run(second)
        await self.death_of("b")
        row = await self.recorded(first)
        assert (row.verdict, row.wanted) == (Verdict.LOST, None)

    async def test_a_run_of_a_lost_tick_blocks_the_next(self) -> None:
        """C-CRASH, C-LEASE: like any other, until it has ended."""
        first, second = await self.ticks(2)
        await self.lost(first)
        again = await self.bid_attempt(first)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        await self.finish(first, again.token, Verdict.RAN)
        row = await self.recorded(first)
        assert (row.verdict, row.attempt, row.replica) == (Verdict.RAN, 2, "a")
        await self.won(second)

    async def test_a_release_of_the_dead_changes_nothing(self) -> None:
        """C-RELEASE, C-CRASH: it comes too late, before and after the next attempt was won."""
        first, second = await self.ticks(2)
        lost = await self.lost(first)
        await self.finish(first, lost.token, Verdict.RAN, by="b")
        assert (await self.recorded(first)).verdict is Verdict.LOST
        assert (await self.bid_attempt(first)).won
        await self.finish(first, lost.token, Verdict.RAN, by="b")
        assert (await self.recorded(first)).verdict is None
        assert await self.ruling(second) is Ruling.OVERLAPPED

    async def test_what_is_paused_is_not_run_again_until_it_is_resumed(self) -> None:
        """F-PAUSE, C-CRASH: an attempt is refused like any tick."""
        [tick] = await self.ticks(1)
        await self.lost(tick)
        await self.pause(Target(job_id="report"))
        assert (await self.bid_attempt(tick)).ruling is Ruling.PAUSED
        await self.resume(Target(job_id="report"))
        assert (await self.bid_attempt(tick)).won
