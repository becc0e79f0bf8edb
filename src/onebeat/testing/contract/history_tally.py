"""What is counted, stretch by stretch."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from onebeat.history import MOST_ROWS, Tally
from onebeat.model import Tick, Verdict
from onebeat.testing.contract.asking import EASTERN, Asking, refused
from onebeat.testing.contract.bidding import MINUTE, token

_AT_ALL = timedelta(microseconds=1)
_SEVERAL = (Verdict.FAILED, Verdict.LOST, Verdict.RAN)


class TallyRules(Asking):
    """F-VERDICT: counts over time."""

    async def test_a_tally_counts_verdicts_by_stretches_of_time(self) -> None:
        """F-VERDICT: each begins with its first instant and ends before the next; what runs has none."""
        since, _ = await self.given_several()
        whole = [
            Tally(since, Verdict.FAILED, 1),
            Tally(since, Verdict.RAN, 2),
            Tally(since + 2 * MINUTE, Verdict.LOST, 1),
            Tally(since + 2 * MINUTE, Verdict.RAN, 1),
        ]
        assert await self.tallied(_SEVERAL, since, since + 5 * MINUTE) == whole
        assert await self.tallied(_SEVERAL, since.astimezone(EASTERN), since + 5 * MINUTE) == whole
        assert await self.tallied([Verdict.RAN], since, since + 5 * MINUTE) == [whole[1], whole[3]]
        assert await self.tallied({Verdict.LOST}, since, since + 5 * MINUTE) == [whole[2]]
        assert await self.tallied([], since, since + 5 * MINUTE) == []
        assert await self.tallied([Verdict.MISSED], since, since + 5 * MINUTE) == []

    async def test_a_tally_takes_the_first_instant_and_not_the_last(self) -> None:
        """F-VERDICT, S-KEY: to the microsecond, and of its own app alone."""
        since, last = await self.given_several()
        assert await self.tallied([Verdict.LOST], since, last) == []
        assert await self.tallied([Verdict.LOST], since, last + _AT_ALL) == [
            Tally(since + 2 * MINUTE, Verdict.LOST, 1)
        ]
        assert await self.tallied([Verdict.FAILED], since + _AT_ALL, last) == []
        assert await self.tallied([Verdict.FAILED], last, since) == []
        other = self.history.tally(_SEVERAL, app=f"{self.app}-other", since=since, until=last, step=MINUTE)
        assert list(await other) == []

    async def test_a_tally_of_no_or_too_many_stretches_is_refused(self) -> None:
        """F-VERDICT: so is one of naive instants."""
        [tick] = await self.ticks(1)
        at = tick.scheduled_at
        for step in (timedelta(0), -MINUTE, timedelta(seconds=1.5), timedelta(milliseconds=1)):
            assert "step" in str(await refused(self.tallied(_SEVERAL, at, at + MINUTE, step)))
        most = timedelta(seconds=MOST_ROWS)
        second = timedelta(seconds=1)
        assert await self.tallied(_SEVERAL, at, at + most, second) == []
        assert "step" in str(await refused(self.tallied(_SEVERAL, at, at + most + _AT_ALL, second)))
        await refused(self.tallied(_SEVERAL, at.replace(tzinfo=None), at))
        await refused(self.tallied(_SEVERAL, at, at.replace(tzinfo=None)))

    async def given_several(self) -> tuple[datetime, datetime]:
        """The first and the last instant of some ticks, of several jobs: failed and run at the first, run
        before two minutes are over, run at two minutes, lost before four are, and running."""
        first = (await self.ticks(1))[0].scheduled_at
        last = first + 4 * MINUTE - _AT_ALL
        for at, verdict in (
            (first, Verdict.FAILED),
            (first, Verdict.RAN),
            (first + 2 * MINUTE - _AT_ALL, Verdict.RAN),
            (first + 2 * MINUTE, Verdict.RAN),
            (last, Verdict.LOST),
        ):
            tick = Tick(token(), at)
            await self.finish(tick, (await self.won(tick)).token, verdict)
        await self.won(Tick(token(), first))
        return first, last

    async def tallied(
        self, verdicts: Any, since: datetime, until: datetime, step: timedelta = 2 * MINUTE
    ) -> list[Tally]:
        return list(await self.history.tally(verdicts, app=self.app, since=since, until=until, step=step))
