"""Where the lines of a scale stand: for time as a wall clock has it, and for lengths of time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import takewhile
from typing import NamedTuple

_A_DAY = timedelta(days=1)
_WITHIN_A_DAY = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200)
_WITHIN_A_MINUTE = (5, 10, 15, 30)
_IN_DAYS = (1, 2, 7, 14, 28, 91, 182, 364, 1_820, 3_640, 36_400, 364_000)
_LENGTHS = (
    *(size * scale for scale in (0.001, 0.01, 0.1) for size in (1, 2, 5)),
    *(float(size) for size in (1, 2, 5, 10, 15, 30)),
    *(60.0 * size for size in (1, 2, 5, 10, 15, 30)),
    *(3_600.0 * size for size in (1, 2, 3, 6, 12)),
    *(86_400.0 * size for size in (1, 2, 5, 10, 30, 100, 365, 3_650, 36_500)),
)


class Step(NamedTuple):
    """A line of the scale of time, and what stands at it."""

    at: datetime
    label: str


def time_steps(since: datetime, until: datetime, zone: tzinfo, *, most: int = 8) -> tuple[Step, ...]:
    """At round times of the wall clock of *zone* in [since, until]: about *most* of them. Of an hour that
    comes twice, the first counts."""
    seconds = (until - since).total_seconds()
    for step in _WITHIN_A_MINUTE:
        if seconds / step <= most:
            return tuple(_seconds(since, until, zone, step))
    for step in _WITHIN_A_DAY:
        if seconds / step <= most:
            return tuple(_steps(since, until, zone, step))
    days = next((days for days in _IN_DAYS if seconds / 86_400 / days <= most), _IN_DAYS[-1])
    return tuple(
        Step(midnight, f"{day:%b} {day.day}" if days < 364 else f"{day:%b} {day.year}")
        for day in _dates(since, until, zone)
        if day.toordinal() % days == 0 and since <= (midnight := _instant(day, 0, zone)) <= until
    )


def length_steps(low: float, high: float, *, most: int = 5) -> tuple[float, ...]:
    """Round lengths of time, in seconds, in [low, high]: *most* of them, or one more."""
    step = next((step for step in _LENGTHS if (high - low) / step <= most), _LENGTHS[-1])
    first, last = -int(-low // step), int(high // step)
    return tuple(number * step for number in range(first, min(last, first + 2 * most) + 1))


def length_label(seconds: float) -> str:
    """A round length of time, in the unit in which it is round."""
    size = abs(seconds)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if size >= length:
            return f"{seconds / length:g} {unit}"
    return f"{seconds * 1_000:g} ms" if seconds else "0"


def _seconds(since: datetime, until: datetime, zone: tzinfo, step: int) -> Iterator[Step]:
    """No zone is off by less than a minute any more."""
    first, last = -int(-since.timestamp() // step), int(until.timestamp() // step)
    for number in range(first, last + 1):
        at = datetime.fromtimestamp(number * step, UTC)
        yield Step(at, f"{at.astimezone(zone):%H:%M:%S}")


def _steps(since: datetime, until: datetime, zone: tzinfo, step: int) -> Iterator[Step]:
    for day in _dates(since, until, zone):
        for second in range(0, 86_400, step):
            at = _instant(day, second, zone)
            if since <= at <= until and _reads(at, second, zone):
                yield Step(at, at.astimezone(zone).strftime("%H:%M") if second else f"{day:%b} {day.day}")


def _dates(since: datetime, until: datetime, zone: tzinfo) -> Iterator[date]:
    first, last = since.astimezone(zone).date(), until.astimezone(zone).date()
    yield from takewhile(lambda day: day <= last, (first + number * _A_DAY for number in range(4_000_000)))


def _instant(day: date, second: int, zone: tzinfo) -> datetime:
    hours, rest = divmod(second, 3_600)
    return datetime.combine(day, time(hours, *divmod(rest, 60)), zone).astimezone(UTC)


def _reads(at: datetime, second: int, zone: tzinfo) -> bool:
    """Whether that wall time is there at all: clocks may skip it."""
    wall = at.astimezone(zone)
    return (wall.hour * 60 + wall.minute) * 60 + wall.second == second
