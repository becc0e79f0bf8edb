"""What a trigger asks for, and what a cancellation reaches."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onebeat.control import withdrawal
from onebeat.model import Ruling, Tick, Verdict, Wanted
from onebeat.testing.contract.asking import EASTERN, NO_TEXTS, STRANGE, Asking, refused
from onebeat.testing.contract.bidding import HOUR

A_SECOND = timedelta(seconds=1)


class TriggerRules(Asking):
    """F-PAUSE: trigger."""

    async def test_a_trigger_leaves_a_row_that_waits_for_a_holder(self) -> None:
        """F-PAUSE: its instant is about now, and the row says who asked and why."""
        await self.register("report")
        begun = await self.store_time()
        tick = await self.trigger()
        assert begun <= tick.scheduled_at <= await self.store_time() + A_SECOND
        row = await self.recorded(tick)
        assert (row.wanted, row.triggered, row.by, row.reason) == (Wanted.RUN, True, "ada", "asked for")
        assert (row.verdict, row.provisional, row.replica, row.claimed_at) == (None, False, None, None)

    async def test_a_trigger_that_was_taken_up_says_who_runs_it(self) -> None:
        """F-PAUSE, F-VERDICT: who asked and why stays, and no second replica wins it."""
        await self.register("report")
        tick = await self.trigger()
        answer = await self.bid_triggered(tick, HOUR)
        assert answer.won
        assert not (await self.bid_triggered(tick, HOUR, by="b")).won
        row = await self.recorded(tick)
        assert (row.wanted, row.triggered, row.by, row.reason) == (None, True, "ada", "asked for")
        assert (row.verdict, row.replica, row.fence) == (None, "a", answer.fence)
        await self.finish(tick, answer.token, Verdict.RAN)
        row = await self.recorded(tick)
        assert (row.verdict, row.provisional, row.by) == (Verdict.RAN, False, "ada")

    async def test_triggers_of_a_job_follow_each_other(self) -> None:
        """F-PAUSE: each has a tick of its own, later than those before it, taken up or not."""
        await self.register("report")
        ticks = [await self.trigger() for _ in range(4)]
        assert (await self.bid_triggered(ticks[0], None)).won
        assert (await self.bid_triggered(ticks[3], None)).won
        ticks.append(await self.trigger())
        assert (await self.bid_triggered(ticks[4], None)).won
        assert ticks == sorted(set(ticks))

    async def test_triggers_by_many_at_once_are_as_many_ticks(self) -> None:
        """F-PAUSE: through whatever handle."""
        await self.register("report")
        asked = (
            self.controls(n).trigger("report", app=self.app, by=f"asker {n}", reason="at once", force=False)
            for n in range(10)
        )
        ticks = await asyncio.gather(*asked)
        assert len(set(ticks)) == 10
        rows = [await self.recorded(tick) for tick in ticks]
        assert [row.by for row in rows] == [f"asker {n}" for n in range(10)]

    async def test_a_trigger_lies_on_no_whole_second(self) -> None:
        """F-PAUSE, S-KEY: so a tick of the schedule never finds its place taken."""
        await self.register("report")
        for _ in range(3):
            assert (await self.trigger()).scheduled_at.microsecond
            await self.pass_time(A_SECOND.total_seconds() / 10)

    async def test_a_trigger_never_touches_the_schedule(self) -> None:
        """F-PAUSE, C-ORDER: neither asked, nor taken up, nor ended."""
        first, second = await self.ticks(2)
        await self.register("report")
        await self.run(first)
        tick = await self.trigger()
        answer = await self.bid_triggered(tick, HOUR)
        assert answer.won
        assert (await self.state()).watermark == first.scheduled_at
        await self.finish(tick, answer.token, Verdict.RAN)
        assert (await self.won(second)).previous_at == first.scheduled_at

    async def test_a_trigger_waits_while_the_job_runs_unless_forced(self) -> None:
        """F-PAUSE, C-LEASE: a forced one is bid for without a lease."""
        [tick] = await self.ticks(1)
        await self.register("report")
        running = await self.won(tick)
        patient, forced = await self.trigger(), await self.trigger("report", force=True)
        assert (await self.bid_triggered(patient, HOUR)).ruling is Ruling.OVERLAPPED
        assert (await self.recorded(patient)).wanted is Wanted.RUN
        await self.release(tick, running.token)
        assert (await self.bid_triggered(patient, HOUR)).won
        assert (await self.bid_triggered(forced, None)).won

    async def test_a_job_that_nobody_registered_cannot_be_triggered(self) -> None:
        """F-PAUSE, C-APP: nor one of another app; nothing is left of it."""
        await self.register("report", app=f"{self.app}-other")
        assert "report" in str(await refused(self.trigger()))
        await self.register("report")
        await refused(self.trigger("Report"))
        assert await self.found() == []
        assert list(await self.audit()) == []

    async def test_strange_ids_are_triggered_like_any(self) -> None:
        """F-PAUSE, J-ADD: each by its own."""
        await self.register(*STRANGE)
        ticks = [await self.trigger(strange) for strange in STRANGE]
        assert [tick.job_id for tick in ticks] == list(STRANGE)
        assert sorted(await self.found()) == sorted(ticks)

    async def test_nonsense_triggers_and_cancels_nothing(self) -> None:
        """F-PAUSE: neither a row nor one in the audit."""
        await self.register("report")
        ask = {"app": self.app, "by": "ada", "reason": "asked for"}
        for wrong in ({key: text} for key in ("by", "reason") for text in NO_TEXTS):
            texts = {**ask, **wrong}
            await refused(self.control.trigger("report", **texts, force=False))  # type: ignore[arg-type]
            await refused(self.control.cancel("report", **texts, scheduled_at=None))  # type: ignore[arg-type]
        for job_id in NO_TEXTS:
            await refused(self.trigger(job_id))  # type: ignore[arg-type]
            await refused(self.cancel(job_id))  # type: ignore[arg-type]
        await refused(self.cancel(at=(await self.store_time()).replace(tzinfo=None)))
        assert await self.found() == []
        assert list(await self.audit()) == []


class CancelRules(Asking):
    """F-PAUSE: cancel."""

    async def test_what_runs_of_a_job_is_to_be_cancelled(self) -> None:
        """F-PAUSE: all of it, wherever it runs, and nothing of other jobs."""
        first, second = await self.ticks(2)
        [other] = await self.ticks(1, "reports")
        await self.won(first, lease=None)
        await self.won(second, by="b", lease=None)
        await self.won(other)
        assert sorted(await self.cancel()) == [first, second]
        rows = [await self.recorded(tick) for tick in (first, second, other)]
        assert [row.wanted for row in rows] == [Wanted.CANCEL, Wanted.CANCEL, None]
        assert [row.verdict for row in rows] == [None, None, None]
        assert sorted(await self.cancel()) == [first, second]  # it still runs

    async def test_one_run_of_a_job_is_cancelled_by_its_tick(self) -> None:
        """F-PAUSE: and another that overlaps it goes on."""
        first, second = await self.ticks(2)
        for tick in (first, second):
            await self.won(tick, lease=None)
        assert await self.cancel(at=second.scheduled_at.astimezone(EASTERN)) == [second]
        assert (await self.recorded(first)).wanted is None
        assert (await self.recorded(second)).wanted is Wanted.CANCEL

    async def test_what_has_ended_is_not_cancelled(self) -> None:
        """F-PAUSE: its verdict stands; neither a job without a run nor an unknown one is an error."""
        first, second = await self.ticks(2)
        await self.run(first)
        answer = await self.won(second)
        assert await self.cancel(at=first.scheduled_at) == []
        assert await self.cancel() == [second]
        await self.finish(second, answer.token, Verdict.CANCELLED)
        assert await self.cancel() == await self.cancel("unknown") == []
        rows = [await self.recorded(tick) for tick in (first, second)]
        assert [row.verdict for row in rows] == [Verdict.RAN, Verdict.CANCELLED]
        assert [row.wanted for row in rows] == [None, None]

    async def test_a_cancelled_run_keeps_its_claim_until_it_is_released(self) -> None:
        """F-PAUSE, C-LEASE: it is asked to end, and blocks the next tick until it has."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        await self.cancel()
        assert (await self.bid(first, answer.token)).won
        assert await self.ruling(second) is Ruling.OVERLAPPED
        await self.release(first, answer.token)
        await self.won(second)

    async def test_a_trigger_nobody_took_up_is_withdrawn(self) -> None:
        """F-PAUSE, F-VERDICT: finally, with a note, and nobody wins it any more."""
        await self.register("report", "reports")
        tick, other = await self.trigger(), await self.trigger("reports")
        assert await self.cancel() == [tick]
        row = await self.recorded(tick)
        assert (row.verdict, row.provisional, row.wanted) == (Verdict.CANCELLED, False, None)
        assert (row.by, row.note) == ("ada", withdrawal("ada", "too slow"))
        assert not (await self.bid_triggered(tick, None)).won
        assert (await self.recorded(tick)).verdict is Verdict.CANCELLED
        assert await self.cancel() == []
        assert (await self.recorded(other)).wanted is Wanted.RUN

    async def test_a_trigger_that_was_taken_up_is_cancelled_like_any_run(self) -> None:
        """F-PAUSE: by its tick too."""
        await self.register("report")
        tick, waiting = await self.trigger(), await self.trigger()
        assert (await self.bid_triggered(tick, HOUR)).won
        assert await self.cancel(at=tick.scheduled_at) == [tick]
        row = await self.recorded(tick)
        assert (row.wanted, row.verdict) == (Wanted.CANCEL, None)
        assert (await self.recorded(waiting)).wanted is Wanted.RUN

    async def test_strange_ids_are_cancelled_like_any(self) -> None:
        """F-PAUSE, J-ADD: each by its own."""
        for strange in STRANGE:
            [tick] = await self.ticks(1, strange)
            await self.won(tick)
            assert await self.cancel(strange) == [tick]
            assert await self.cancel(strange, tick.scheduled_at) == [tick]

    async def test_another_app_is_not_cancelled(self) -> None:
        """C-APP: though its job has the same id and the same tick."""
        [tick] = await self.ticks(1)
        await self.won(tick)
        assert await self.cancel(app=f"{self.app}-other") == []
        assert (await self.recorded(tick)).wanted is None

    async def test_repair_takes_no_trigger_for_a_tick_of_the_schedule(self) -> None:
        """C-EARLY: a trigger never moved the watermark: what lies before it can still be won."""
        await self.register("report")
        ahead = Tick("report", await self.store_time() + 0.9 * self.tolerance)
        await self.run(ahead)
        triggered = await self.trigger()
        assert (await self.bid_triggered(triggered, None)).won
        assert await self.store.repair(app=self.app, job_id="report")
        assert (await self.bid(Tick("report", triggered.scheduled_at - timedelta(milliseconds=1)))).won
