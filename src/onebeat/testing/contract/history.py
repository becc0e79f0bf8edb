"""What is told of a tick: what became of it, who ran it, how late, for how long."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import Record, Release, Ruling, Tick, Verdict
from onebeat.testing.contract.asking import EASTERN, EVERYTHING, Asking, refused
from onebeat.testing.contract.bidding import HOUR, MINUTE, token


class TickHistoryRules(Asking):
    """F-VERDICT: the rows of ticks, one by one."""

    async def test_a_running_tick_says_who_runs_it_since_when(self) -> None:
        """F-VERDICT: without a verdict, and without times of its own yet."""
        [tick] = await self.ticks(1)
        answer = await self.won(tick, by="b")
        row = await self.recorded(tick)
        assert row.tick == tick
        assert (row.verdict, row.provisional, row.wanted, row.triggered) == (None, False, None, False)
        assert (row.replica, row.replica_id) == ("b", self.replica("b").id)
        assert (row.attempt, row.fence) == (1, answer.fence)
        assert row.claimed_at is not None
        assert abs(row.claimed_at - answer.store_time) < timedelta(seconds=1)
        assert (row.started_at, row.finished_at, row.lateness, row.duration) == (None, None, None, None)
        assert (row.note, row.trace_id, row.by, row.reason) == (None, None, None, None)

    async def test_a_tick_that_has_run_says_when_and_for_how_long(self) -> None:
        """F-VERDICT: how late, how long, under which trace."""
        [tick] = await self.ticks(1)
        answer = await self.won(tick)
        started = tick.scheduled_at + timedelta(seconds=1.5)
        end = Release(tick, answer.token, Verdict.RAN, started, started + 2 * MINUTE, trace_id="ab" * 16)
        await self.store.release([end], replica=self.replica())
        row = await self.recorded(tick)
        assert (row.verdict, row.provisional, row.note, row.trace_id) == (Verdict.RAN, False, None, "ab" * 16)
        assert (row.started_at, row.finished_at) == (end.started_at, end.finished_at)
        assert (row.lateness, row.duration) == (1.5, 120.0)

    async def test_every_end_of_a_run_is_told_with_its_error(self) -> None:
        """F-VERDICT: as text, whatever is in it."""
        ends = (Verdict.FAILED, Verdict.TIMED_OUT, Verdict.CANCELLED, Verdict.LOST)
        for n, verdict in enumerate(ends):
            for text in (f"it's {n} %s \\n", "größe\n🙂\t", "x" * 1000):
                [tick] = await self.ticks(1, token())
                answer = await self.won(tick)
                await self.store.release(
                    [Release(tick, answer.token, verdict, error=text)], replica=self.replica()
                )
                row = await self.recorded(tick)
                assert (row.verdict, row.note, row.started_at) == (verdict, text, None)

    async def test_a_tick_without_a_row_is_unknown(self) -> None:
        """F-VERDICT, C-APP: so is one of another app."""
        first, second = await self.ticks(2)
        await self.won(first)
        assert await self.history.tick(second, app=self.app) is None
        assert await self.history.tick(Tick("Report", first.scheduled_at), app=self.app) is None
        assert await self.history.tick(first, app=f"{self.app}-other") is None
        page = await self.history.ticks(EVERYTHING, app=f"{self.app}-other", limit=10)
        assert (page.rows, page.next) == ((), None)

    async def test_verdicts_on_ticks_nobody_has_won_are_provisional(self) -> None:
        """F-VERDICT: what is missed apart; each says who gave it."""
        ticks = await self.ticks(4)
        verdicts = (Verdict.MISSED, Verdict.CLAIM_ERROR, Verdict.EARLY, Verdict.OVERLAPPED)
        given = [Record(tick, verdict, "by b") for tick, verdict in zip(ticks, verdicts, strict=True)]
        await self.register("report")
        await self.fleet.record(given, replica=self.replica("b"))
        rows = [await self.recorded(tick) for tick in ticks]
        assert [row.verdict for row in rows] == list(verdicts)
        assert [row.provisional for row in rows] == [False, True, True, True]
        assert {(row.note, row.replica_id, row.claimed_at) for row in rows} == {("by b", None, None)}

    async def test_a_refused_claim_leaves_its_reason_until_somebody_wins(self) -> None:
        """F-VERDICT: overlapped is provisional, and there is one row a tick."""
        self.side("record")
        first, second = await self.ticks(2)
        running = await self.won(first)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        row = await self.recorded(second)
        assert (row.verdict, row.provisional, row.replica_id) == (Verdict.OVERLAPPED, True, None)
        await self.release(first, running.token)
        await self.won(second, by="b")
        row = await self.recorded(second)
        assert (row.verdict, row.provisional, row.replica) == (None, False, "b")
        assert len(await self.found()) == 2

    async def test_every_handle_tells_the_same(self) -> None:
        """F-VERDICT: on any machine that reaches the store."""
        [tick] = await self.ticks(1)
        await self.won(tick)
        told = {await self.histories(n).tick(tick, app=self.app) for n in range(len(self.handles()))}
        assert told == {await self.recorded(tick)}

    async def test_ticks_are_counted_by_their_verdicts(self) -> None:
        """F-VERDICT: those scheduled from the one instant until before the other; what runs has none."""
        ticks = await self.ticks(6)
        for tick, verdict in zip(ticks, [*[Verdict.RAN] * 3, Verdict.FAILED, Verdict.LOST], strict=False):
            await self.finish(tick, (await self.won(tick, lease=None)).token, verdict)
        await self.won(ticks[5], lease=None)
        whole = {Verdict.RAN: 3, Verdict.FAILED: 1, Verdict.LOST: 1}
        assert await self.counted(ticks[0], ticks[5]) == whole
        assert await self.counted(ticks[0], Tick("", ticks[5].scheduled_at + MINUTE)) == whole
        assert await self.counted(ticks[1], ticks[4]) == {Verdict.RAN: 2, Verdict.FAILED: 1}
        assert await self.counted(ticks[1], ticks[1]) == {}
        at = ticks[0].scheduled_at
        other = await self.history.counts(app=f"{self.app}-other", since=at, until=at + HOUR)
        assert other == {}
        await refused(self.history.counts(app=self.app, since=at.replace(tzinfo=None), until=at))

    async def counted(self, first: Tick, last: Tick) -> dict[Verdict, int]:
        return await self.history.counts(
            app=self.app, since=first.scheduled_at.astimezone(EASTERN), until=last.scheduled_at
        )
