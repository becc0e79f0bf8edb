"""A schedule between two instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule, for_job
from onebeat.schedules.compose import Composable, plain_parts, shown
from onebeat.schedules.instants import epoch_seconds

_AT_ALL = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, repr=False)
class Between(Composable):
    """Due when *schedule* is, in [start, end); without a start from ever on."""

    schedule: Schedule
    start: datetime | None
    end: datetime

    def parts_of(self) -> tuple[Schedule, ...]:
        return plain_parts(self.schedule)

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*; None if there is none."""
        epoch_seconds(moment)  # refuses a naive one
        if moment >= self.end:
            return None
        if self.start is not None and moment < self.start:
            moment = self.start - _AT_ALL
        due = self.schedule.next_after(moment)
        return due if due is not None and due < self.end else None

    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*; None if there is none."""
        epoch_seconds(moment)
        if self.start is not None and moment <= self.start:
            return None
        due = self.schedule.previous_before(min(moment, self.end))
        return due if due is not None and (self.start is None or due >= self.start) else None

    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""
        due = self.schedule.matches(moment)
        return due and moment < self.end and (self.start is None or moment >= self.start)

    def for_job(self, job_id: str) -> Schedule:
        """The same of what *schedule* is for *job_id*."""
        return Between(for_job(self.schedule, job_id), self.start, self.end)

    def __repr__(self) -> str:
        inner = shown(self.schedule)
        if self.start is None:
            return f"{inner}.until({self.end!r})"
        return f"{inner}.between({self.start!r}, {self.end!r})"


def between(schedule: Schedule, start: datetime | None, end: datetime) -> Between:
    """*schedule* in [start, end). Raises InvalidSchedule."""
    end = _instant("end", end)
    if start is not None:
        start = _instant("start", start)
        if start >= end:
            raise InvalidSchedule("end", end, f"an instant later than the start, {start}")
    return Between(schedule, start, end)


def _instant(field: str, got: object) -> datetime:
    if not isinstance(got, datetime) or got.utcoffset() is None:
        raise InvalidSchedule(field, got, "a timezone-aware datetime", "datetime.now(UTC), say")
    try:
        return got.astimezone(UTC).replace(fold=0)  # equal ones are shown alike
    except OverflowError:
        raise InvalidSchedule(field, got, "an instant that UTC has too") from None
