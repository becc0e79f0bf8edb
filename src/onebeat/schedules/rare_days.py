"""Days that depend on the month they are in: L, L-n, nW, LW, n#k, nL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class RareDays(Protocol):
    """Some days of a month, told from its first weekday (Sunday is 0) and its length."""

    def within(self, first_weekday: int, length: int) -> int:
        """A mask with bit n-1 set for day n."""


@dataclass(frozen=True, slots=True)
class LastDay:
    """The last day of the month, or *back* days before it; none where the month is too short."""

    back: int

    def within(self, first_weekday: int, length: int) -> int:
        day = length - self.back
        return 1 << day - 1 if day >= 1 else 0


@dataclass(frozen=True, slots=True)
class Workday:
    """The Monday to Friday nearest to a day, never outside its month.

    The day is counted from the month's start when it is above zero, else back from its end.
    """

    day: int

    def within(self, first_weekday: int, length: int) -> int:
        day = self.day if self.day > 0 else length + self.day
        if not 1 <= day <= length:
            return 0
        weekday = (first_weekday + day - 1) % 7
        if weekday == 6:
            day += -1 if day > 1 else 2
        elif weekday == 0:
            day += 1 if day < length else -2
        return 1 << day - 1


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """The *nth* of a weekday in its month; the last one when *nth* is 0."""

    weekday: int
    nth: int

    def within(self, first_weekday: int, length: int) -> int:
        day = 1 + (self.weekday - first_weekday) % 7
        day += 7 * ((length - day) // 7 if self.nth == 0 else self.nth - 1)
        return 1 << day - 1 if day <= length else 0


_LAST = re.compile(r"L(?:-(\d\d?))?(W?)", re.ASCII | re.IGNORECASE)
_NEAREST = re.compile(r"(\d\d?)W", re.ASCII | re.IGNORECASE)
_OF_MONTH = re.compile(r"([A-Z]{3}|\d\d?)(?:#(\d\d?)|L)", re.ASCII | re.IGNORECASE)


def read_monthday(part: str) -> RareDays | None:
    """What *part* of a day-of-month field names; None when it is not of this kind."""
    if last := _LAST.fullmatch(part):
        back = int(last[1] or 0)
        if back > 30:
            return None
        return Workday(-back) if last[2] else LastDay(back)
    if (nearest := _NEAREST.fullmatch(part)) and 1 <= int(nearest[1]) <= 31:
        return Workday(int(nearest[1]))
    return None


def read_weekday(part: str, names: Mapping[str, int]) -> RareDays | None:
    """What *part* of a day-of-week field names; None when it is not of this kind."""
    found = _OF_MONTH.fullmatch(part)
    if found is None:
        return None
    weekday = names.get(found[1].lower(), -1) if found[1].isalpha() else int(found[1])
    nth = 0 if found[2] is None else int(found[2])
    if not 0 <= weekday <= 7 or not (nth or found[2] is None) or nth > 5:
        return None
    return NthWeekday(weekday % 7, nth)
