"""A timetable in English words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from onebeat.schedules.closed import Closed, Dates, Weekdays
from onebeat.schedules.days import EVERY_DAY, Days
from onebeat.schedules.rare_days import LastDay, NthWeekday, RareDays, Workday
from onebeat.schedules.timetable import Timetable

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MOST_TIMES = 6


def times_in_words(table: Timetable) -> str:
    """The times of a day: "at 09:00 and 17:30", "every 15 minutes"."""
    hours, minutes, seconds = _bits(table.at_hours), _bits(table.at_minutes), _bits(table.at_seconds)
    if seconds == [0]:
        return _times(hours, minutes)
    if len(seconds) == 60:
        if len(minutes) == 60:
            return "every second" + _of_hours(hours)
        return f"every second of {_counted('minute', minutes)}{_of_hours(hours) or ' of every hour'}"
    step = _step(seconds, 60)
    if step and len(minutes) == 60:
        return f"every {step} seconds{_of_hours(hours)}"
    times = _times(hours, minutes)
    joined = f" of {times.removeprefix('at ')}" if times.startswith("at ") else f", {times}"
    return f"at {_counted('second', seconds)}{joined}"


def days_in_words(days: Days) -> str:
    """The days: "on Monday to Friday in June"; nothing for every day."""
    if days == EVERY_DAY:
        return ""
    weekdays = _some_weekdays(days)
    monthdays = _some_monthdays(days)
    chosen = " or ".join(words for words in (monthdays, weekdays) if words)
    months = _bits(days.months)
    within = "" if len(months) == 12 else f"in {_listed(months, lambda month: _MONTHS[month - 1])}"
    return " ".join(words for words in (chosen or "every day", within) if words)


def days_off_in_words(closed: Closed) -> str:
    """The days that are taken away from a schedule."""
    match closed:
        case Weekdays(_, mask):
            return _listed(_bits(mask), _WEEKDAYS.__getitem__)
        case Dates():
            return listing(closed.texts)
        case _:
            return repr(closed)


def listing(words: Iterable[str]) -> str:
    """a, b and c"""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _times(hours: list[int], minutes: list[int]) -> str:
    if len(hours) * len(minutes) <= _MOST_TIMES:
        return f"at {listing(f'{hour:02d}:{minute:02d}' for hour in hours for minute in minutes)}"
    if len(minutes) == 60:
        return "every minute" + _of_hours(hours)
    step = _step(minutes, 60)
    if step:
        return f"every {step} minutes{_of_hours(hours)}"
    return f"at {_counted('minute', minutes)}{_of_hours(hours) or ' of every hour'}"


def _of_hours(hours: list[int]) -> str:
    return "" if len(hours) == 24 else f" of {_counted('hour', hours)}"


def _counted(unit: str, values: list[int]) -> str:
    return f"{unit}{'s' if len(values) > 1 else ''} {_listed(values, str)}"


def _step(values: list[int], size: int) -> int:
    """The distance between the values when they divide the whole evenly, from 0 on; else 0."""
    step = size // len(values)
    return step if len(values) > 1 and values == list(range(0, size, step)) and size % step == 0 else 0


def _some_weekdays(days: Days) -> str:
    weekdays = _bits(days.weeks & 0x7F)
    if len(weekdays) == 7:
        return ""
    plain = [_listed(weekdays, _WEEKDAYS.__getitem__)] if weekdays else []
    return f"on {listing([*plain, *map(_rare_in_words, days.rare_weekdays)])}"


def _some_monthdays(days: Days) -> str:
    monthdays = [day + 1 for day in _bits(days.monthdays)]
    if len(monthdays) == 31:
        return ""
    plain = [_counted("day", monthdays)] if monthdays else []
    return f"on {listing([*plain, *map(_rare_in_words, days.rare_monthdays)])} of the month"


def _rare_in_words(rare: RareDays) -> str:
    match rare:
        case LastDay(back):
            return _before_the_last(back)
        case Workday(day) if day > 0:
            return f"the Monday to Friday nearest to day {day}"
        case Workday(day):
            return f"the Monday to Friday nearest to {_before_the_last(-day)}"
        case NthWeekday(weekday, 0):
            return f"the last {_WEEKDAYS[weekday]}"
        case NthWeekday(weekday, nth):
            return f"the {('1st', '2nd', '3rd', '4th', '5th')[nth - 1]} {_WEEKDAYS[weekday]}"
        case _:
            return repr(rare)


def _before_the_last(back: int) -> str:
    return f"{back} day{'s' * (back > 1)} before the last day" if back else "the last day"


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _listed(values: list[int], name: Callable[[int], str]) -> str:
    """Runs of three and more as "a to b", all of them in one list."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts: list[str] = []
    for run in runs:
        parts += [f"{name(run[0])} to {name(run[-1])}"] if len(run) > 2 else map(name, run)
    return listing(parts)
