"""Days as a wall clock has them: of 24 hours mostly. Minutes are counted since the Unix epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby

MINUTE = 60
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LocalDay:
    """One date of a zone: the minutes from *start* up to, but not including, *end*."""

    date: date
    start: int
    end: int

    @property
    def length(self) -> str:
        """Where it is not 24 hours, as one on which clocks change: its hours."""
        hours = (self.end - self.start) / MINUTE
        return "" if hours == 24 else f"{hours:g} hours"


@dataclass(frozen=True, slots=True)
class LocalHour:
    """The minutes from *start* up to *end* of one hour of the wall clock, which begin in it at *first*.

    An hour that comes twice is two; then the *label* says which.
    """

    label: str
    hour: int
    start: int
    end: int
    first: int


def minute_of(moment: datetime) -> int:
    """The minute in which *moment* lies."""
    return int(moment.timestamp()) // MINUTE


def instant_of(minute: int) -> datetime:
    """When *minute* begins, in UTC."""
    return datetime.fromtimestamp(minute * MINUTE, UTC)


def local_day(day: date, zone: tzinfo) -> LocalDay:
    """*day* in *zone*. Of a midnight that comes twice the first one counts; where none comes, what does."""
    return LocalDay(day, _midnight(day, zone), _midnight(day + _A_DAY, zone))


def days_from(first: date, count: int, zone: tzinfo) -> tuple[LocalDay, ...]:
    """So many, from *first* on."""
    return tuple(local_day(first + number * _A_DAY, zone) for number in range(count))


def hours_of(day: LocalDay, zone: tzinfo) -> tuple[LocalHour, ...]:
    """Its hours in the order in which they come."""
    found = list(_hours(day, zone))
    twice = {hour for hour, *_ in found if sum(hour == other for other, *_ in found) > 1}
    return tuple(
        LocalHour(f"{hour:02} {name}" if hour in twice else f"{hour:02}", hour, start, end, first)
        for hour, name, start, end, first in found
    )


def _hours(day: LocalDay, zone: tzinfo) -> Iterator[tuple[int, str, int, int, int]]:
    walls = ((minute, instant_of(minute).astimezone(zone)) for minute in range(day.start, day.end))
    for (hour, _), those in groupby(walls, key=lambda each: (each[1].hour, each[1].utcoffset())):
        minutes = list(those)
        start, wall = minutes[0]
        yield hour, wall.tzname() or "", start, start + len(minutes), wall.minute


def _midnight(day: date, zone: tzinfo) -> int:
    # In a gap, the offset that held before names the very instant at which the clocks are set.
    return minute_of(datetime.combine(day, time(), zone).astimezone(UTC))
