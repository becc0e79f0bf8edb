"""Which ticks are told, in which order, page by page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from onebeat.history import MOST_ROWS, Order, TickFilter, TickRecord
from onebeat.model import Tick, Verdict
from onebeat.testing.contract.asking import EASTERN, EVERYTHING, STRANGE, WILD, Asking, refused, walked
from onebeat.testing.contract.bidding import MINUTE, token

NO_LIMITS = (0, -1, MOST_ROWS + 1, True, 1.5, "10", None)
NO_CURSORS = ("", "x", "1", "é", "\0", "WyJ0aWNrIl0=", "W10=", "e30=", "WzFd", "a" * 5000)


class PagingRules(Asking):
    """F-VERDICT: pages of ticks, and filters."""

    async def test_ticks_come_newest_first_then_by_their_jobs(self) -> None:
        """F-VERDICT: both descending, whatever the order in which they were claimed."""
        ticks = [tick for job_id in ("a", "c", "B", "é") for tick in await self.ticks(3, job_id)]
        at = {n: ticks[n].scheduled_at for n in range(3)}
        ticks = [Tick(tick.job_id, at[n % 3]) for n, tick in enumerate(ticks)]
        for tick in ticks:
            await self.run(tick, lease=None)
        assert await self.found() == newest_first(ticks)
        assert await self.found(limit=5) == newest_first(ticks)[:5]

    async def test_pages_hold_every_tick_once(self) -> None:
        """F-VERDICT: whatever is won while they are read, newer or older."""
        there = await self.several("report", "another")
        fresh = iter([tick for job_id in ("new", "zzz") for tick in await self.ticks(30, job_id)])
        for limit in (1, 2, 3, len(there)):
            rows = await self.walk_ticks(EVERYTHING, limit, win=fresh)
            assert [tick for tick in rows if tick in there] == newest_first(there), limit
            assert rows == newest_first(set(rows)), limit

    async def test_pages_under_a_filter_hold_every_tick_once(self) -> None:
        """F-VERDICT: of one job, of some, of those in a time, one page after the other."""
        there = await self.several("report", "reports", "another")
        since = there[1].scheduled_at
        filters = {
            TickFilter(job_id="report"): [tick for tick in there if tick.job_id == "report"],
            TickFilter(prefix="rep"): [tick for tick in there if tick.job_id != "another"],
            TickFilter(since=since): [tick for tick in there if tick.scheduled_at >= since],
            TickFilter(verdicts=(Verdict.RAN,)): there,
        }
        for which, expected in filters.items():
            assert await self.walk_ticks(which, 2) == newest_first(expected), which

    async def test_pages_come_oldest_first_when_asked_so(self) -> None:
        """F-VERDICT: each tick once, whatever is won while they are read; also under a filter, and back from
        any cursor."""
        there = await self.several("report", "another", "é")
        fresh = iter([tick for job_id in ("new", "zzz") for tick in await self.ticks(5, job_id)])
        for limit in (1, 2, len(there)):
            rows = await self.walk_ticks(EVERYTHING, limit, fresh, Order.OLDEST_FIRST)
            assert [tick for tick in rows if tick in there] == newest_first(there)[::-1], limit
            assert rows == newest_first(set(rows))[::-1], limit
        which = TickFilter(job_id="report", since=there[1].scheduled_at, until=there[4].scheduled_at)
        assert await self.walk_ticks(which, 2, order=Order.OLDEST_FIRST) == there[1:4]
        page = await self.history.ticks(TickFilter(job_id="report"), app=self.app, limit=3)
        back = await self.history.ticks(
            TickFilter(job_id="report"), app=self.app, limit=9, after=page.next, order=Order.OLDEST_FIRST
        )
        assert [row.tick for row in back.rows] == there[3:5]

    async def test_a_text_that_no_row_can_hold_is_refused_by_its_name(self) -> None:
        """F-VERDICT, J-ADD: a NUL, half of a surrogate pair."""
        at = (await self.ticks(1))[0].scheduled_at
        for text in ("\0", "a\ud800", "\udfff"):
            for name in ("job_id", "prefix", "replica"):
                assert name in str(await refused(self.filtered(**{name: text})))
            for field, question in (
                ("app", self.history.ticks(EVERYTHING, app=text, limit=1)),
                ("app", self.history.tick(Tick("report", at), app=text)),
                ("app", self.history.jobs(app=text, limit=1)),
                ("app", self.history.job("report", app=text)),
                ("app", self.history.replicas(app=text)),
                ("app", self.history.audit(app=text, limit=1)),
                ("app", self.history.counts(app=text, since=at, until=at)),
                ("job_id", self.history.tick(Tick(text, at), app=self.app)),
                ("job_id", self.history.job(text, app=self.app)),
                ("app", self.history.tally([], app=text, since=at, until=at, step=MINUTE)),
                ("app", self.history.marks(["report"], app=text, each=1)),
                ("job_id", self.history.marks(["report", text], app=self.app, each=1)),
                ("prefix", self.history.jobs(app=self.app, prefix=text, limit=1)),
            ):
                assert field in str(await refused(question))

    async def test_a_page_that_is_full_to_its_end_has_no_next_one(self) -> None:
        """F-VERDICT: nor has an empty one."""
        there = await self.several("report")
        for limit in (len(there), len(there) + 1):
            page = await self.history.ticks(EVERYTHING, app=self.app, limit=limit)
            assert (len(page.rows), page.next) == (len(there), None)
        page = await self.history.ticks(EVERYTHING, app=self.app, limit=len(there) - 1)
        assert page.next is not None
        rest = await self.history.ticks(EVERYTHING, app=self.app, limit=5, after=page.next)
        assert (len(rest.rows), rest.next) == (1, None)

    async def test_a_filter_by_job_or_prefix_is_taken_literally(self) -> None:
        """F-VERDICT, J-ADD: quotes, wildcards, every script, 200 characters."""
        ids = {*STRANGE, *WILD.values(), *(f"{prefix}1" for prefix in WILD)}
        ticks = {job_id: (await self.ticks(1, job_id))[0] for job_id in ids}
        for tick in ticks.values():
            await self.won(tick)
        for job_id in ids:
            assert await self.found(TickFilter(job_id=job_id)) == [ticks[job_id]]
            assert await self.found(TickFilter(prefix=job_id, job_id=job_id)) == [ticks[job_id]]
        for prefix in (*WILD, *STRANGE, ""):
            begun = [tick for job_id, tick in ticks.items() if job_id.startswith(prefix)]
            assert await self.found(TickFilter(prefix=prefix)) == newest_first(begun), prefix
        assert await self.found(TickFilter(job_id="unknown")) == []
        assert await self.found(TickFilter(job_id="", prefix="")) == []

    async def test_a_filter_by_verdict_takes_any_of_several(self) -> None:
        """F-VERDICT: and leaves out what has none."""
        ticks = await self.ticks(4)
        for tick, verdict in zip(ticks, (Verdict.RAN, Verdict.FAILED, Verdict.TIMED_OUT), strict=False):
            await self.finish(tick, (await self.won(tick, lease=None)).token, verdict)
        await self.won(ticks[3], lease=None)
        assert await self.found(TickFilter(verdicts=(Verdict.FAILED,))) == [ticks[1]]
        either = TickFilter(verdicts=(Verdict.RAN, Verdict.TIMED_OUT))
        assert await self.found(either) == [ticks[2], ticks[0]]
        assert await self.found(TickFilter(verdicts=(Verdict.MISSED,))) == []
        assert await self.found(TickFilter(verdicts=tuple(Verdict))) == ticks[2::-1]

    async def test_a_filter_by_replica_goes_by_its_label(self) -> None:
        """F-VERDICT, C-ID: quotes and all."""
        for strange in STRANGE:
            [tick] = await self.ticks(1, token())
            await self.won(tick, by=strange)
            assert await self.found(TickFilter(replica=strange)) == [tick]
        assert await self.found(TickFilter(replica="nobody")) == []

    async def test_a_filter_by_time_takes_the_first_instant_and_not_the_last(self) -> None:
        """F-VERDICT, S-KEY: in whatever zone they are given; naive ones are refused."""
        ticks = await self.several("report")
        first, last = ticks[1].scheduled_at, ticks[3].scheduled_at
        for since, until in ((first, last), (first.astimezone(EASTERN), last.astimezone(EASTERN))):
            assert await self.found(TickFilter(since=since, until=until)) == [ticks[2], ticks[1]]
        assert await self.found(TickFilter(since=last)) == newest_first(ticks[3:])
        assert await self.found(TickFilter(until=first)) == ticks[:1]
        assert await self.found(TickFilter(since=first, until=first)) == []
        for naive in ({"since": first.replace(tzinfo=None)}, {"until": first.replace(tzinfo=None)}):
            await refused(self.filtered(**naive))

    async def test_a_filter_for_what_runs_leaves_out_all_else(self) -> None:
        """F-VERDICT: what has ended, and what waits for a holder."""
        first, second = await self.ticks(2)
        await self.run(first, lease=None)
        await self.won(second, lease=None)
        assert await self.found(TickFilter(running=True)) == [second]
        await self.register("report")
        waiting = await self.trigger()
        assert await self.found(TickFilter(running=True)) == [second]
        assert waiting in await self.found()

    async def test_filters_together_leave_what_fits_all(self) -> None:
        """F-VERDICT: job, verdict, replica and time."""
        ticks = await self.several("report", "another")
        at = ticks[2].scheduled_at
        which = TickFilter(
            job_id="report", prefix="rep", verdicts=(Verdict.RAN,), replica="a", since=at, until=at + MINUTE
        )
        assert await self.found(which) == [ticks[2]]
        for other in (
            {"job_id": "another"},
            {"prefix": "an"},
            {"verdicts": (Verdict.LOST,)},
            {"replica": "b"},
            {"since": at + MINUTE},
            {"until": at},
            {"running": True},
        ):
            assert await self.found(replace(which, **other)) == [], other

    async def test_a_limit_or_a_cursor_that_makes_no_sense_is_refused(self) -> None:
        """F-VERDICT: of every kind of page; also a cursor of another kind."""
        await self.register("a", "b", "c")
        await self.several("report")
        for _ in range(2):
            await self.cancel()
        ticks = await self.history.ticks(EVERYTHING, app=self.app, limit=1)
        jobs = await self.history.jobs(app=self.app, limit=1)
        audit = await self.history.audit(app=self.app, limit=1)
        assert None not in (ticks.next, jobs.next, audit.next)
        for limit in NO_LIMITS:
            await refused(self.history.ticks(EVERYTHING, app=self.app, limit=limit))  # type: ignore[arg-type]
            await refused(self.history.jobs(app=self.app, limit=limit))  # type: ignore[arg-type]
            await refused(self.history.audit(app=self.app, limit=limit))  # type: ignore[arg-type]
        for cursor in (*NO_CURSORS, jobs.next, audit.next):
            await refused(self.history.ticks(EVERYTHING, app=self.app, limit=1, after=cursor))
        for cursor in (*NO_CURSORS, ticks.next, audit.next):
            await refused(self.history.jobs(app=self.app, limit=1, after=cursor))
        for cursor in (*NO_CURSORS, ticks.next, jobs.next):
            await refused(self.history.audit(app=self.app, limit=1, after=cursor))

    async def filtered(self, **wrong: object) -> TickFilter:
        return TickFilter(**wrong)  # type: ignore[arg-type]

    async def several(self, *job_ids: str) -> list[Tick]:
        """Five ticks of each that have run, in order of the jobs, then of time."""
        ticks = [tick for job_id in job_ids for tick in await self.ticks(5, job_id)]
        for tick in ticks:
            await self.run(tick, lease=None)
        return ticks

    async def walk_ticks(
        self,
        which: TickFilter,
        limit: int,
        win: Iterable[Tick] = (),
        order: Order = Order.NEWEST_FIRST,
    ) -> list[Tick]:
        async def meanwhile() -> None:
            for tick in islice(win, 1):
                await self.run(tick, lease=None)

        rows: list[TickRecord] = await walked(
            lambda after: self.history.ticks(which, app=self.app, limit=limit, after=after, order=order),
            meanwhile,
        )
        return [row.tick for row in rows]


def newest_first(ticks: Iterable[Tick]) -> list[Tick]:
    return sorted(ticks, key=lambda tick: (tick.scheduled_at, tick.job_id), reverse=True)
