"""Due instants found the slow way: every instant is shown to the zone's clock and looked at.

Nothing here is shared with the product: allowed values are plain sets, wall time is zoneinfo's.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from zoneinfo import ZoneInfo

DayTest = Callable[[date], bool]


@dataclass(frozen=True)
class Part:
    """One part of a field: its text, the values it allows, or a test of the day."""

    text: str
    values: frozenset[int] = frozenset()
    star: bool = False
    day_test: DayTest | None = None


@dataclass(frozen=True)
class Spec:
    """A cron text whose meaning is known, because text and meaning were made together."""

    seconds: tuple[Part, ...] | None
    minutes: tuple[Part, ...]
    hours: tuple[Part, ...]
    monthdays: tuple[Part, ...]
    months: tuple[Part, ...]
    weekdays: tuple[Part, ...]

    @property
    def text(self) -> str:
        fields = [self.minutes, self.hours, self.monthdays, self.months, self.weekdays]
        if self.seconds is not None:
            fields.insert(0, self.seconds)
        return " ".join(",".join(part.text for part in parts) for parts in fields)

    def on(self, day: date) -> bool:
        """Whether the day is one of these."""
        if not _allows(self.months, day.month, day):
            return False
        by_month = _allows(self.monthdays, day.day, day)
        by_week = _allows(self.weekdays, day.isoweekday() % 7, day)
        starred = any(part.star for part in self.monthdays + self.weekdays)
        return (by_month and by_week) if starred else (by_month or by_week)

    def at(self, wall: datetime) -> bool:
        """Whether a clock that shows *wall* shows a due time."""
        seconds, minutes, hours = self.times
        return (
            wall.second in seconds
            and wall.minute in minutes
            and wall.hour in hours
            and _on(self, wall.date())
        )

    @cached_property
    def times(self) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """The seconds, minutes and hours it allows."""
        seconds = frozenset({0}) if self.seconds is None else _values(self.seconds)
        return seconds, _values(self.minutes), _values(self.hours)


_on = lru_cache(maxsize=512)(Spec.on)


def _values(parts: tuple[Part, ...]) -> frozenset[int]:
    return frozenset().union(*(part.values for part in parts))


def _allows(parts: tuple[Part, ...], value: int, day: date) -> bool:
    return any(value in part.values or (part.day_test is not None and part.day_test(day)) for part in parts)


def due_between(
    spec: Spec, zone: ZoneInfo, start: datetime, end: datetime, step: timedelta, gap: str, fold: str
) -> Iterator[datetime]:
    """The due instants in [start, end], which lie on the step."""
    instant, offset = start, (start - step).astimezone(zone).utcoffset()
    while instant <= end:
        local = instant.astimezone(zone)
        now = local.utcoffset()
        if spec.at(local):
            if _chosen(local.replace(tzinfo=None, fold=0), zone, instant, fold):
                yield instant
        elif (
            gap == "after" and now != offset and _missing(spec, local.replace(tzinfo=None), now, offset, step)
        ):
            yield instant
        offset = now
        instant += step


def fixed_time_between(
    spec: Spec, hour: int, minute: int, zone: ZoneInfo, start: datetime, days: int, gap: str, fold: str
) -> list[datetime]:
    """The instants of one time of day on the days of *spec*: each day's wall time is shown to zoneinfo."""
    found = set()
    for n in range(-2, days + 2):
        day = (start + timedelta(days=n)).date()
        if spec.on(day):
            wall = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001
            both = {wall.replace(tzinfo=zone, fold=n).astimezone(UTC) for n in (0, 1)}
            real = {moment for moment in both if moment.astimezone(zone).replace(tzinfo=None) == wall}
            if real:
                found |= {moment for moment in real if _chosen(wall, zone, moment, fold)}
            elif gap == "after":
                found.add(_end_of_gap(wall, zone, min(both)))
    return sorted(moment for moment in found if start <= moment <= start + timedelta(days=days))


def _end_of_gap(wall: datetime, zone: ZoneInfo, before: datetime) -> datetime:
    """The first minute at which the clock shows more than *wall*."""
    moment = before
    while moment.astimezone(zone).replace(tzinfo=None) < wall:
        moment += timedelta(minutes=1)
    while (moment - timedelta(minutes=1)).astimezone(zone).replace(tzinfo=None) > wall:
        moment -= timedelta(minutes=1)
    return moment


def _chosen(wall: datetime, zone: ZoneInfo, instant: datetime, fold: str) -> bool:
    """Whether the policy keeps this one of the instants at which the clock shows *wall*."""
    both = [wall.replace(tzinfo=zone, fold=n).astimezone(UTC) for n in (0, 1)]
    if fold == "first":
        return instant == min(both)
    if fold == "second":
        return instant == max(both)
    return True


def _missing(
    spec: Spec, wall: datetime, offset: timedelta | None, before: timedelta | None, step: timedelta
) -> bool:
    """Whether a due time is among those the clock jumped over to show *wall*."""
    assert offset is not None
    assert before is not None
    skipped = wall - (offset - before)
    while skipped < wall:
        if spec.at(skipped):
            return True
        skipped += step
    return False


def month_length(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def is_nearest_workday(day: date, wanted: int) -> bool:
    """Whether *day* is the Monday to Friday nearest to day *wanted* of its month, within the month."""
    if not 1 <= wanted <= month_length(day):
        return False
    workdays = [n for n in range(1, month_length(day) + 1) if date(day.year, day.month, n).isoweekday() <= 5]
    # On a tie a Saturday goes back and a Sunday on; neither can tie with only workdays to choose from,
    # save at the ends of the month, where just one side is left.
    return day.day == min(workdays, key=lambda n: abs(n - wanted))


def is_nth_weekday(day: date, weekday: int, nth: int) -> bool:
    return day.isoweekday() % 7 == weekday and (day.day - 1) // 7 + 1 == nth


def is_last_weekday(day: date, weekday: int) -> bool:
    return day.isoweekday() % 7 == weekday and day.day + 7 > month_length(day)
