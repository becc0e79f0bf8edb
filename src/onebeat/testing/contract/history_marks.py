"""What is told of many ticks in short."""

from __future__ import annotations

from datetime import timedelta

from onebeat.history import MOST_MARKS, MOST_ROWS, Mark
from onebeat.model import Record, Release, Tick, Verdict
from onebeat.testing.contract.asking import STRANGE, Asking, refused


class MarkRules(Asking):
    """F-VERDICT: the newest ticks of many jobs at once."""

    async def test_marks_say_of_each_tick_what_its_row_says(self) -> None:
        """F-VERDICT: run, running or never won, late or early, to the microsecond; the oldest first."""
        ticks = await self.ticks(5)
        for tick, late, verdict in zip(
            ticks, (0.0, 1.000001, -0.25), (Verdict.RAN, Verdict.FAILED, Verdict.LOST), strict=False
        ):
            answer = await self.won(tick, lease=None)
            started = tick.scheduled_at + timedelta(seconds=late)
            end = Release(tick, answer.token, verdict, started, started + timedelta(seconds=61.234567))
            await self.store.release([end], replica=self.replica())
        await self.won(ticks[3], lease=None)
        await self.fleet.record([Record(ticks[4], Verdict.MISSED)], replica=self.replica())
        rows = [await self.recorded(tick) for tick in ticks]
        expected = [Mark(row.tick.scheduled_at, row.verdict, row.lateness, row.duration) for row in rows]
        assert [mark.lateness for mark in expected] == [0.0, 1.000001, -0.25, None, None]
        assert await self.marked("report") == {"report": expected}

    async def test_of_each_job_the_newest_marks_are_told(self) -> None:
        """F-VERDICT, J-ADD: so many of each, whatever the others have; none of a job without ticks, each job
        once, and of no other app."""
        ids = ["none", *STRANGE, "report", "report"]
        there = {job_id: await self.ticks(4 if job_id == "report" else 2, job_id) for job_id in ids[1:]}
        for ticks in there.values():
            for tick in ticks:
                await self.run(tick, lease=None)
        await self.run((await self.ticks(1, "not asked for"))[0])
        for each in (1, 3, MOST_MARKS):
            marks = await self.marked(*ids, each=each)
            assert list(marks) == list(dict.fromkeys(ids))
            for job_id, told in marks.items():
                newest = there.get(job_id, [])[-each:]
                assert [Tick(job_id, mark.scheduled_at) for mark in told] == newest, job_id
        other = await self.history.marks(["report"], app=f"{self.app}-other", each=5)
        assert {job_id: list(marks) for job_id, marks in other.items()} == {"report": []}
        assert await self.marked() == {}

    async def test_more_marks_than_are_told_are_refused(self) -> None:
        """F-VERDICT: of a job, and of too many jobs."""
        for each in (0, MOST_MARKS + 1, True, 1.5, None):
            assert "each" in str(await refused(self.history.marks([], app=self.app, each=each)))  # type: ignore[arg-type]
        ids = [f"job {n}" for n in range(MOST_ROWS + 1)]
        assert "job_ids" in str(await refused(self.history.marks(ids, app=self.app, each=1)))
        assert "job_ids" in str(await refused(self.history.marks("report", app=self.app, each=1)))
        assert len(await self.marked(*ids[1:])) == MOST_ROWS

    async def marked(self, *job_ids: str, each: int = 50) -> dict[str, list[Mark]]:
        found = await self.history.marks(job_ids, app=self.app, each=each)
        return {job_id: list(marks) for job_id, marks in found.items()}
