"""What a fleet is asked for, and who takes it up."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onebeat.control import Target
from onebeat.model import Bid, Ruling, Tick, Verdict, Wanted
from onebeat.testing.contract.bidding import HOUR, token
from onebeat.testing.contract.living import Living


class WantedRules(Living):
    """F-PAUSE: a trigger runs once, a cancellation reaches the holder."""

    async def test_a_beat_brings_what_was_triggered_until_somebody_has_it(self) -> None:
        """F-PAUSE: to every replica of the app, the oldest first."""
        for name in ("a", "b"):
            await self.join("report", by=name)
        patient, forced = await self.trigger(), await self.trigger(force=True)
        for name in ("a", "b"):
            orders = await self.orders(name)
            assert [(order.wanted, order.tick) for order in orders] == [
                (Wanted.RUN, patient),
                (Wanted.RUN, forced),
            ]
            assert [(order.forced, order.by, order.reason) for order in orders] == [
                (False, "ada", "asked for"),
                (True, "ada", "asked for"),
            ]
        answer = await self.bid_triggered(patient, HOUR)
        assert [order.tick for order in await self.orders("b")] == [forced]
        await self.finish(patient, answer.token, Verdict.RAN)
        await self.cancel(at=forced.scheduled_at)
        assert await self.orders() == ()

    async def test_what_was_asked_for_first_comes_first(self) -> None:
        """F-PAUSE: whatever the jobs are called."""
        ids = ("m", "z", "a")
        await self.join(*ids)
        asked = []
        for job_id in ids:
            asked.append(await self.trigger(job_id))
            await self.pass_time(0.01)
        assert [order.tick for order in await self.orders()] == asked

    async def test_of_many_one_takes_up_a_trigger(self) -> None:
        """F-PAUSE, C-ONE: whatever handle each of them uses, forced or not; once and for all."""
        await self.join("report")
        for lease in (HOUR, None):
            tick = await self.trigger(force=lease is None)
            bids = [[Bid(tick, token(), lease, triggered=True)] for _ in range(12)]
            answers = await asyncio.gather(
                *(self.bid_all(bid, by=f"r{n}", store=self.handle(n)) for n, bid in enumerate(bids))
            )
            [won] = [answer for [answer] in answers if answer.won]
            again = Bid(tick, won.token, lease, triggered=True)
            assert [one.fence for one in await self.bid_all([again])] == [won.fence]
            await self.finish(tick, won.token, Verdict.RAN)
            assert (await self.bid_triggered(tick, lease)).ruling is Ruling.CLAIMED

    async def test_what_nobody_triggered_cannot_be_taken_up(self) -> None:
        """F-PAUSE: neither a tick without a row nor one that has been won or told of."""
        unknown, told, ran = await self.ticks(3)
        await self.record(told, Verdict.OVERLAPPED)
        await self.run(ran)
        for tick in (unknown, told, ran):
            assert (await self.bid_triggered(tick, None)).ruling is Ruling.CLAIMED
            assert (await self.bid_triggered(tick, HOUR)).ruling is Ruling.CLAIMED

    async def test_a_trigger_that_waits_has_no_verdict_yet(self) -> None:
        """F-PAUSE, F-VERDICT: whatever is said of it meanwhile, or refused."""
        [tick] = await self.ticks(1)
        await self.join("report")
        waiting = await self.trigger()
        await self.won(tick)
        await self.bid_triggered(waiting, HOUR)
        for verdict in (Verdict.EARLY, Verdict.CLAIM_ERROR, Verdict.MISSED):
            await self.record(waiting, verdict)
        row = await self.recorded(waiting)
        assert (row.verdict, row.wanted) == (None, Wanted.RUN)

    async def test_a_trigger_keeps_nobody_waiting_who_came_before_it(self) -> None:
        """F-PAUSE: one that is forced overtakes one that waits, and that one runs all the same."""
        [tick] = await self.ticks(1)
        await self.join("report")
        running = await self.won(tick)
        patient, forced = await self.trigger(), await self.trigger(force=True)
        assert (await self.bid_triggered(patient, HOUR)).ruling is Ruling.OVERLAPPED
        assert (await self.bid_triggered(forced, None)).won
        await self.release(tick, running.token)
        assert (await self.bid_triggered(patient, HOUR)).won

    async def test_a_triggered_run_blocks_like_any_other(self) -> None:
        """F-PAUSE, C-LEASE: the next tick and the next trigger wait, until it is released."""
        first, second = await self.ticks(2)
        await self.join("report")
        await self.run(first)
        one, other = await self.trigger(), await self.trigger()
        answer = await self.bid_triggered(one, HOUR)
        assert answer.won
        assert await self.ruling(second) is Ruling.OVERLAPPED
        assert (await self.bid_triggered(other, HOUR)).ruling is Ruling.OVERLAPPED
        await self.finish(one, answer.token, Verdict.RAN)
        assert (await self.bid_triggered(other, timedelta(seconds=0.01))).won
        await self.pass_time(0.05)
        assert (await self.won(second)).previous_at == first.scheduled_at

    async def test_a_trigger_is_neither_early_nor_passed_nor_paused(self) -> None:
        """F-PAUSE, C-ORDER: it obeys neither the watermark nor a pause, and moves neither."""
        await self.join("report")
        tick = await self.trigger()
        newer = Tick("report", await self.store_time() + 0.8 * self.tolerance)
        await self.run(newer)
        await self.pause(Target.app())
        answer = await self.bid_triggered(tick, HOUR)
        assert answer.won
        assert answer.watermark == newer.scheduled_at

    async def test_a_lost_trigger_is_not_run_again(self) -> None:
        """C-CRASH, F-PAUSE: whoever asked sees that it was lost, and asks again."""
        await self.join("report", by="b")
        tick = await self.trigger()
        bid = Bid(tick, token(), HOUR, rerun=True, triggered=True)
        assert [answer.won for answer in await self.bid_all([bid], by="b")] == [True]
        await self.death_of("b")
        row = await self.recorded(tick)
        assert (row.verdict, row.wanted, row.by) == (Verdict.LOST, None, "ada")
        assert not (await self.bid_attempt(tick)).won
        assert not (await self.bid_triggered(tick, None)).won

    async def test_a_cancellation_reaches_the_holder_alone(self) -> None:
        """F-PAUSE: with the token of its claim, until that is released."""
        [tick] = await self.ticks(1)
        for name in ("a", "b"):
            await self.join("report", by=name)
        answer = await self.won(tick, by="b")
        await self.cancel()
        assert await self.orders("a") == ()
        [order] = await self.orders("b")
        assert (order.wanted, order.tick, order.token) == (Wanted.CANCEL, tick, answer.token)
        await self.finish(tick, answer.token, Verdict.CANCELLED, by="b")
        assert await self.orders("b") == ()

    async def test_pruning_leaves_what_waits_for_somebody(self) -> None:
        """D-PRUNE, F-PAUSE, C-CRASH: a trigger, and a lost tick that is to run again; once over they go."""
        [lost] = await self.ticks(1)
        await self.lost(lost)
        await self.join("report")
        tick = await self.trigger()
        assert await self.prune() == 0
        wanted = {(order.wanted, order.tick) for order in await self.orders()}
        assert wanted == {(Wanted.RERUN, lost), (Wanted.RUN, tick)}
        for answer in (await self.bid_attempt(lost), await self.bid_triggered(tick, None)):
            assert answer.won
            await self.release(answer.tick, answer.token)
        await self.prune()
        assert await self.found() == []
        assert not (await self.bid_attempt(lost)).won
        assert not (await self.bid_triggered(tick, None)).won

    async def test_pruning_takes_a_lost_tick_whose_job_has_gone_on(self) -> None:
        """D-PRUNE, C-CRASH: nobody runs it any more, though it was wanted once."""
        lost, later = await self.ticks(2)
        await self.lost(lost)
        await self.finish(later, (await self.won(later, lease=None)).token, Verdict.RAN)
        assert await self.prune() >= 1
        assert await self.history.tick(lost, app=self.app) is None
