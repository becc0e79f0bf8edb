"""How far around an instant one schedule is wholly contained in another.

Only to pass over at once what would be found excluded one by one: an answer may be too small, never too
large.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from onebeat.schedule import Schedule
from onebeat.schedules.between import Between
from onebeat.schedules.compose import plain_parts
from onebeat.schedules.days import EVERY_DAY, Days
from onebeat.schedules.every import Every
from onebeat.schedules.instants import DAY, epoch_seconds
from onebeat.schedules.timetable import EVERY_HOUR, Timetable

_LONGEST_RUN = 31
_EVER = 1 << 40
"""Seconds, some 35,000 years."""


class _Clock(NamedTuple):
    """The times of day of a schedule, as masks, and the stretch around an instant in which they hold."""

    hours: int
    minutes: int
    seconds: int
    days: Days
    offset: int
    low: int
    high: int


def covered(inside: Schedule, outside: Schedule, at: int) -> tuple[int, int] | None:
    """Seconds [low, high) around *at* in which every due instant of *inside* is one of *outside*.

    None when nothing is known beyond *at* itself, at which both are due.
    """
    if inside == outside:
        return -_EVER, _EVER
    if isinstance(outside, Between):
        return _within(outside, covered(inside, outside.schedule, at))
    parts = plain_parts(inside)
    if not all(isinstance(part, Every | Timetable) for part in parts):
        return None
    if isinstance(outside, Every) and all(_multiple(part, outside) for part in parts):
        return -_EVER, _EVER
    outer = _clock(outside, at, exact=True)
    return None if outer is None else _by_clock([_clock(part, at) for part in parts], outer, at)


def by_calendar(schedule: Schedule) -> bool:
    """Whether *schedule* is due by the calendar and the wall clock alone: like years have like instants."""
    return all(
        isinstance(part, Timetable) or (isinstance(part, Every) and DAY % part.period == 0)
        for part in plain_parts(schedule)
    )


def _within(outside: Between, found: tuple[int, int] | None) -> tuple[int, int] | None:
    if found is None:
        return None
    start = -_EVER if outside.start is None else epoch_seconds(outside.start)[0] + 1
    return max(found[0], start), min(found[1], epoch_seconds(outside.end)[0])


def _multiple(inside: Schedule, outside: Every) -> bool:
    return isinstance(inside, Every) and inside.period % outside.period == 0


def _by_clock(inside: list[_Clock | None], outside: _Clock, at: int) -> tuple[int, int] | None:
    """The longest of the minute, the hour and the days around *at* whose times are all taken."""
    unit = DAY
    low, high = outside.low, outside.high
    for clock in inside:
        if clock is None:
            return None
        unit = min(unit, _unit(clock, outside))
        low, high = max(low, clock.low), min(high, clock.high)
    if unit == 0 or not low <= at < high:
        return None
    reading = at + outside.offset
    first = last = reading // unit
    if unit == DAY and outside.days.every:
        return low, high
    if unit == DAY:
        while last - first < _LONGEST_RUN and outside.days.first_from(last + 1) == last + 1:
            last += 1
        while last - first < 2 * _LONGEST_RUN and outside.days.last_until(first - 1) == first - 1:
            first -= 1
    return max(low, first * unit - outside.offset), min(high, (last + 1) * unit - outside.offset)


def _unit(inside: _Clock, outside: _Clock) -> int:
    """The length in seconds of what one due instant tells about its surroundings: all of it is contained."""
    shift = outside.offset - inside.offset
    if shift % 60 or inside.seconds & ~outside.seconds:
        return 0
    if _turned(inside.minutes, shift // 60, 60) & ~outside.minutes:
        return 60
    hours = _turned(inside.hours, shift // 3600, 24)
    if shift % 3600:
        hours |= _turned(hours, 1, 24)
    return 3600 if hours & ~outside.hours else DAY


def _turned(mask: int, by: int, size: int) -> int:
    """*mask* of values on a dial of *size*, each moved on by *by*."""
    by %= size
    return (mask << by | mask >> size - by) & (1 << size) - 1


def _clock(schedule: Schedule, at: int, exact: bool = False) -> _Clock | None:
    """The times of *schedule* around *at*, or more than these unless *exact*; None when nothing is known."""
    if isinstance(schedule, Every):
        return _clock_of_every(schedule.period, exact)
    if not isinstance(schedule, Timetable):
        return None
    window = schedule.wall.window(at)
    if exact:
        low, high, reading = window.opens, window.closes, at + window.offset
        if not low <= at < high or schedule.first_reading(reading) != reading:
            return None
    else:  # right after a gap it may be due at a time of day that is none of its own
        low, high = window.start + (window.gap > 0), window.end
    times = schedule.at_hours, schedule.at_minutes, schedule.at_seconds
    return _Clock(*times, schedule.days, window.offset, low, high)


def _clock_of_every(period: int, exact: bool) -> _Clock | None:
    seconds = _multiples(gcd(period, 60), 60)
    minutes = _multiples(gcd(period, 3600) // 60, 60) if period % 60 == 0 else _multiples(1, 60)
    hours = _multiples(gcd(period, DAY) // 3600, 24) if period % 3600 == 0 else EVERY_HOUR
    if exact and (hours.bit_count() * minutes.bit_count() * seconds.bit_count()) * period != DAY:
        return None
    return _Clock(hours, minutes, seconds, EVERY_DAY, 0, -_EVER, _EVER)


def _multiples(step: int, size: int) -> int:
    return sum(1 << value for value in range(0, size, step))
