"""A schedule without some of its instants. What is excluded is passed over in stretches, so that it ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from onebeat.schedule import Schedule, for_job
from onebeat.schedules.closed import Closed
from onebeat.schedules.compose import Composable, plain_parts, shown
from onebeat.schedules.covering import by_calendar, covered
from onebeat.schedules.instants import epoch_seconds, instant
from onebeat.schedules.parse import schedule_of
from onebeat.schedules.union import Union

# Each step passes over all that is known to be excluded around an instant: days, for the schedules of ours.
# A difference that has nothing left after so many is empty.
_MOST_STEPS = 100_000
_ALL_CALENDARS = timedelta(days=41 * 366)
# No zone had rules before the first, and none changes them after the second.
_RULES_BEGIN = datetime(1800, 1, 1, tzinfo=UTC)
_RULES_END = datetime(2088, 1, 1, tzinfo=UTC) + _ALL_CALENDARS
_AT_ALL = timedelta(microseconds=1)
Stretch = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True, repr=False)
class Without(Composable):
    """Due when *schedule* is, but at no instant and on no day of what is *excluded*."""

    joined: ClassVar[bool] = True
    schedule: Schedule
    excluded: tuple[Closed | Schedule, ...]

    def parts_of(self) -> tuple[Schedule, ...]:
        return plain_parts(self.schedule)

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*; None if there is none."""
        epoch_seconds(moment)  # refuses a naive one
        asked = moment
        for _ in range(_MOST_STEPS):
            due = self.schedule.next_after(moment)
            if due is None or (stretch := self._excluded_around(due)) is None:
                return due
            if stretch[1] is None:
                return None
            moment = stretch[1]
            if self._searched(asked, due):
                if due > _RULES_BEGIN:
                    return None
                moment = max(moment, _RULES_BEGIN)
        return None

    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*; None if there is none."""
        epoch_seconds(moment)
        asked = moment
        for _ in range(_MOST_STEPS):
            due = self.schedule.previous_before(moment)
            if due is None or (stretch := self._excluded_around(due)) is None:
                return due
            if stretch[0] is None:
                return None
            moment = stretch[0]
            if self._searched(asked, due):
                if due < _RULES_END:
                    return None
                moment = min(moment, _RULES_END)
        return None

    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""
        return self.schedule.matches(moment) and self._excluded_around(moment) is None

    def for_job(self, job_id: str) -> Schedule:
        """The same of what its schedules are for *job_id*."""
        bound = (part if isinstance(part, Closed) else for_job(part, job_id) for part in self.excluded)
        return Without(for_job(self.schedule, job_id), tuple(bound))

    def __repr__(self) -> str:
        return " - ".join(map(shown, (self.schedule, *self.excluded)))

    def _excluded_around(self, due: datetime) -> Stretch | None:
        """From where to where nothing is due because *due* is excluded; None when it is not."""
        for part in self.excluded:
            if isinstance(part, Closed):
                seconds = part.stretch(epoch_seconds(due)[0])
                if seconds is None:
                    continue
            elif part.matches(due):
                at, rest = epoch_seconds(due)
                seconds = None if rest else covered(self.schedule, part, at)
            else:
                continue
            return (due, due) if seconds is None else _instants(*seconds)
        return None

    def _searched(self, asked: datetime, due: datetime) -> bool:
        """Whether every calendar a year can have was met on the way, under rules that do not change there."""
        return (
            abs(due - asked) > _ALL_CALENDARS
            and not _RULES_BEGIN <= due <= _RULES_END
            and all(isinstance(part, Closed) or by_calendar(part) for part in (self.schedule, *self.excluded))
        )


def _instants(low: int, high: int) -> Stretch:
    """The first and the last instant of seconds [low, high); None for one that no datetime can name."""
    end = instant(high)
    return instant(low), end and end - _AT_ALL


def without(schedule: object, excluded: object) -> Without:
    """*schedule* without *excluded*: days, or the instants of another schedule."""
    known = schedule_of(schedule)
    part = excluded if isinstance(excluded, Closed) else schedule_of(excluded)
    parts = part.parts if isinstance(part, Union) else (part,)
    if isinstance(known, Without):
        return Without(known.schedule, (*known.excluded, *parts))
    return Without(known, parts)
