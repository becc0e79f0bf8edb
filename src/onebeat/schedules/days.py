"""Which days of the calendar a schedule names. Days are counted from 1970-01-01."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from onebeat.schedules.fields import Field

if TYPE_CHECKING:
    from onebeat.schedules.rare_days import RareDays

_UNIX = date(1970, 1, 1).toordinal()
_FIRST_DAY = date.min.toordinal() - _UNIX
_LAST_DAY = date.max.toordinal() - _UNIX
_FIRST_MONTH = date.min.year * 12
_LAST_MONTH = date.max.year * 12 + 11
# Every calendar a year can have, by its length and its first weekday, comes up within forty years:
# what was not met in that time never will be.
_MONTHS_TO_TRY = 41 * 12
# Laid out six weeks long, the weekdays of a month are cut from it by one shift.
_SIX_WEEKS = sum(1 << 7 * week for week in range(6))
_EVERY_MONTH = (1 << 13) - 2
_EVERY_MONTHDAY = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Days:
    """The days named by the day-of-month, month and day-of-week fields of a cron text.

    Bit n-1 of *monthdays* is day n, bit n of *months* month n, bit n of *weeks* a weekday n days past Sunday.
    """

    every: bool
    weekly: bool
    either: bool
    months: int
    monthdays: int
    weeks: int
    rare_monthdays: tuple[RareDays, ...]
    rare_weekdays: tuple[RareDays, ...]

    def first_from(self, day: int) -> int | None:
        """The first of these days at or after *day*; None if there is none."""
        if self.weekly:
            week = self.weeks >> (day + _UNIX) % 7
            return day + (week & -week).bit_length() - 1
        if not _FIRST_DAY <= day <= _LAST_DAY:
            return None if day > 0 else self.first_from(_FIRST_DAY)
        today = date.fromordinal(day + _UNIX)
        number, past = today.month, today.day - 1
        month = today.year * 12 + number - 1
        # Where weekdays only narrow the month's days down, none of these left is an answer.
        if self.months >> number & 1 and (self.monthdays >> past or self.either or self.rare_monthdays):
            left = self._in_month(month) >> past
            if left:
                return day + (left & -left).bit_length() - 1
        two_years, last = self.months | self.months << 12, month + _MONTHS_TO_TRY
        while True:
            ahead = two_years >> month % 12 + 2
            month += (ahead & -ahead).bit_length()
            if month > last or month > _LAST_MONTH:
                return None
            days = self._in_month(month)
            if days:
                return _month(month)[0] + (days & -days).bit_length() - 1

    def last_until(self, day: int) -> int | None:
        """The last of these days at or before *day*; None if there is none."""
        if self.weekly:
            week = self.weeks & (2 << (day + _UNIX) % 7 + 7) - 1
            return day - (day + _UNIX) % 7 - 7 + week.bit_length() - 1
        if not _FIRST_DAY <= day <= _LAST_DAY:
            return None if day < 0 else self.last_until(_LAST_DAY)
        today = date.fromordinal(day + _UNIX)
        month = today.year * 12 + today.month - 1
        if self.months >> today.month & 1:
            days = self._in_month(month) & (1 << today.day) - 1
            if days:
                return day - today.day + days.bit_length()
        for index in range(month - 1, max(month - _MONTHS_TO_TRY, _FIRST_MONTH) - 1, -1):
            if self.months >> index % 12 + 1 & 1:
                days = self._in_month(index)
                if days:
                    return _month(index)[0] + days.bit_length() - 1
        return None

    def _in_month(self, index: int) -> int:
        """A mask of these days within month *index*."""
        _, first_weekday, length, whole = _month(index)
        monthdays, weekdays = self.monthdays, self.weeks >> first_weekday
        for rare in self.rare_monthdays:
            monthdays |= rare.within(first_weekday, length)
        for rare in self.rare_weekdays:
            weekdays |= rare.within(first_weekday, length)
        days = monthdays | weekdays if self.either else monthdays & weekdays
        return days & whole


@lru_cache(maxsize=4096)
def days_of(monthday: Field, month: Field, weekday: Field) -> Days:
    """The days of three fields: day-of-month OR day-of-week when both are restricted, else both (S-CRON)."""
    monthdays, weeks = monthday.mask >> 1, weekday.mask * _SIX_WEEKS
    either = not (monthday.star or weekday.star)
    any_monthday, any_weekday = monthdays == _EVERY_MONTHDAY, weekday.mask == 0x7F
    if month.mask == _EVERY_MONTH:
        if (any_monthday or any_weekday) if either else (any_monthday and any_weekday):
            return EVERY_DAY
        if any_monthday and not weekday.rare:
            return Days(False, True, False, _EVERY_MONTH, _EVERY_MONTHDAY, weeks, (), ())
    return Days(False, False, either, month.mask, monthdays, weeks, monthday.rare, weekday.rare)


@lru_cache(maxsize=4096)
def _month(index: int) -> tuple[int, int, int, int]:
    """First day, its weekday (Sunday is 0), length and mask of month *index*: year * 12 + month - 1."""
    year, month = index // 12, index % 12 + 1
    first = date(year, month, 1).toordinal()
    length = 31 if month == 12 else date(year, month + 1, 1).toordinal() - first
    return first - _UNIX, first % 7, length, (1 << length) - 1


EVERY_DAY = Days(True, True, False, _EVERY_MONTH, _EVERY_MONTHDAY, 0x7F * _SIX_WEEKS, (), ())
