"""Whole days on which nothing is due: dates and weekdays, to be taken away from a schedule."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.compose import operand
from onebeat.schedules.fields import WEEKDAY
from onebeat.schedules.instants import DAY
from onebeat.schedules.wall import Wall, wall_of

if TYPE_CHECKING:
    from onebeat.schedules.without import Without

_UNIX = date(1970, 1, 1).toordinal()
_LONGEST_RUN = 31
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NAMES = tuple(WEEKDAY.names)


@dataclass(frozen=True, slots=True)
class Closed(ABC):
    """Some days of a zone's calendar, from midnight to midnight. Counted from 1970-01-01."""

    wall: Wall

    @abstractmethod
    def has(self, day: int) -> bool:
        """Whether *day* is one of them."""

    def __rsub__(self, schedule: Schedule | str) -> Without:
        from onebeat.schedules.without import without  # imported late: it knows of these days

        return without(schedule, self) if operand(schedule) else NotImplemented

    def stretch(self, at: int) -> tuple[int, int] | None:
        """Seconds [low, high) around *at* that all lie on such days; None when *at* does not."""
        # Within a window of constant offset: where days begin and end otherwise is looked at there.
        window = self.wall.window(at)
        first = last = (at + window.offset) // DAY
        if not self.has(first):
            return None
        while self.has(first - 1) and last - first < _LONGEST_RUN:
            first -= 1
        while self.has(last + 1) and last - first < 2 * _LONGEST_RUN:
            last += 1
        low, high = first * DAY - window.offset, (last + 1) * DAY - window.offset
        return max(low, window.start), min(high, window.end)


@dataclass(frozen=True, slots=True, repr=False)
class Dates(Closed):
    """Given dates."""

    days: frozenset[int]

    def has(self, day: int) -> bool:
        return day in self.days

    def __reduce__(self) -> tuple[object, ...]:
        return _dates, (self.texts, self.wall.tz)

    def __repr__(self) -> str:
        return f"dates({', '.join(map(repr, self.texts))}{self.wall.settings})"

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(date.fromordinal(day + _UNIX).isoformat() for day in sorted(self.days))


@dataclass(frozen=True, slots=True, repr=False)
class Weekdays(Closed):
    """Given days of every week. Bit n of *days* is a weekday n days past Sunday."""

    days: int

    def has(self, day: int) -> bool:
        return bool(self.days >> (day + _UNIX) % 7 & 1)

    def __reduce__(self) -> tuple[object, ...]:
        return _weekdays, (self.texts, self.wall.tz)

    def __repr__(self) -> str:
        return f"weekdays({', '.join(map(repr, self.texts))}{self.wall.settings})"

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(name for bit, name in enumerate(_NAMES) if self.days >> bit & 1)


def dates(*days: date | str, tz: str = "UTC") -> Dates:
    """These days of *tz*, each a date or its text ("2026-12-25"): `daily(9) - dates("2026-12-25")`."""
    return _dates(days, tz)


def weekdays(*names: str, tz: str = "UTC") -> Weekdays:
    """These days of every week in *tz*, "mon" to "sun": `hourly(0) - weekdays("sat", "sun")`."""
    return _weekdays(names, tz)


def _dates(given: tuple[date | str, ...], tz: str) -> Dates:
    if not given:
        raise InvalidSchedule("dates", given, "at least one date")
    return Dates(wall_of(tz, "skip", "both"), frozenset(_day(got) for got in given))


def _day(got: object) -> int:
    if isinstance(got, str) and _DATE.fullmatch(got):
        try:
            got = date.fromisoformat(got)
        except ValueError:
            raise InvalidSchedule("dates", got, "a date such as 2026-12-25") from None
    if not isinstance(got, date) or isinstance(got, datetime):
        raise InvalidSchedule("dates", got, "a date, or its text such as 2026-12-25")
    return got.toordinal() - _UNIX


def _weekdays(given: tuple[str, ...], tz: str) -> Weekdays:
    mask = 0
    for name in given:
        number = WEEKDAY.names.get(name.lower()) if isinstance(name, str) else None
        if number is None:
            raise InvalidSchedule("weekdays", name, f"one of {', '.join(_NAMES)}")
        mask |= 1 << number
    if not given or mask == 0x7F:
        raise InvalidSchedule("weekdays", given, "one to six days of the week")
    return Weekdays(wall_of(tz, "skip", "both"), mask)
