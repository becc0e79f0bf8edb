"""What a schedule means: a sentence, its next instants, and the days on which the clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.between import Between
from onebeat.schedules.closed import Closed
from onebeat.schedules.compose import plain_parts
from onebeat.schedules.dues import due_after
from onebeat.schedules.english import days_in_words, days_off_in_words, listing, times_in_words
from onebeat.schedules.every import Every
from onebeat.schedules.instants import EPOCH, epoch_seconds
from onebeat.schedules.local import instant_or_now
from onebeat.schedules.parse import schedule_of
from onebeat.schedules.timetable import EVERY_HOUR, Timetable
from onebeat.schedules.union import Union
from onebeat.schedules.wall import Shift
from onebeat.schedules.without import Without

_YEAR_AHEAD = 366 * 86_400
_MOST_TIMES = 3
_MOST_INSTANTS = 100_000


@dataclass(frozen=True, slots=True)
class Explanation:
    """A schedule for people: one English sentence, the next due instants (UTC), and warnings.

    *warnings* tell of the wall times that the coming changes of the clock skip or repeat, a year ahead.
    """

    sentence: str
    instants: tuple[datetime, ...]
    warnings: tuple[str, ...]


def explain(
    schedule: Schedule | str, tz: str = "UTC", after: datetime | None = None, count: int = 5
) -> Explanation:
    """What *schedule*, or a text read in *tz*, means: its *count* instants after *after*, or after now."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST_INSTANTS:
        raise InvalidSchedule("count", count, f"a whole number from 0 to {_MOST_INSTANTS}")
    known, moment = schedule_of(schedule, tz), instant_or_now("after", after)
    instants = tuple(islice(due_after(known, moment), count))
    tables = (part for part in plain_parts(known) if isinstance(part, Timetable))
    warnings = dict.fromkeys(warning for table in tables for warning in _warnings(table, moment))
    return Explanation(describe(known), instants, tuple(warnings))


def describe(schedule: Schedule) -> str:
    """*schedule* in one English sentence; its repr when it is of a kind written elsewhere."""
    match schedule:
        case Every(period):
            return f"Every {_in_units(period)}, counted from 1970-01-01 00:00 UTC."
        case Timetable():
            times, days = times_in_words(schedule), days_in_words(schedule.days)
            if not days and times.startswith("at ") and schedule.at_hours != EVERY_HOUR:
                days = "every day"
            words = f"{times} {days}".strip()
            return f"{words[0].upper()}{words[1:]}, {schedule.tz}."
        case Union(parts):
            return f"{'; or '.join(_clause(part) for part in parts)}."
        case Without(inner, excluded):
            return f"{_clause(inner)}; but not {' nor '.join(map(_exclusion, excluded))}."
        case Between(inner, None, end):
            return f"{_clause(inner)}; until {_minute(end)}."
        case Between(inner, start, end) if start is not None:
            return f"{_clause(inner)}; from {_minute(start)} until {_minute(end)}."
        case _:
            return repr(schedule)


def _clause(schedule: Schedule) -> str:
    return describe(schedule).removesuffix(".")


def _exclusion(part: Closed | Schedule) -> str:
    if isinstance(part, Closed):
        return f"on {days_off_in_words(part)}, {part.wall.tz}"
    return f'when "{_clause(part)}"'


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _in_units(seconds: int) -> str:
    parts = []
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {unit}{'s' * (number > 1)}")
    return parts[0].removeprefix("1 ") if len(parts) == 1 else listing(parts)


def _warnings(table: Timetable, moment: datetime) -> Iterator[str]:
    """What becomes of the due wall times that each change of the clock skips or repeats."""
    now = epoch_seconds(moment)[0]
    for shift in table.wall.shifts(now, now + _YEAR_AHEAD):
        low, high = sorted((shift.at + shift.before, shift.at + shift.after))
        due = list(_readings(table, low, high))
        if not due:
            continue
        day = f"{_wall(due[0]):%Y-%m-%d} in {table.tz}"
        many = len(due) > 1
        if shift.after > shift.before:
            yield f"{_clock(due)} {'do' if many else 'does'} not exist on {day}; {_after_gap(table, shift)}"
        else:
            yield f"{_clock(due)} {'occur' if many else 'occurs'} twice on {day}; {_repeated(table)}"


def _readings(table: Timetable, low: int, high: int) -> Iterator[int]:
    """The due wall times in [low, high), in seconds as if the zone were UTC."""
    reading = table.first_reading(low)
    while reading is not None and reading < high:
        yield reading
        reading = table.first_reading(reading + 1)


def _clock(readings: list[int]) -> str:
    form = "%H:%M:%S" if any(reading % 60 for reading in readings) else "%H:%M"
    if len(readings) > _MOST_TIMES:
        first, last = _wall(readings[0]), _wall(readings[-1])
        return f"{len(readings)} times from {first:{form}} to {last:{form}}"
    return listing(f"{_wall(reading):{form}}" for reading in readings)


def _after_gap(table: Timetable, shift: Shift) -> str:
    if table.wall.gap == "skip":
        return "skipped"
    return f"due at {_wall(shift.at + shift.after):%H:%M} instead"


def _repeated(table: Timetable) -> str:
    return {"both": "due at both", "first": "due at the first", "second": "due at the second"}[
        table.wall.fold
    ]


def _wall(reading: int) -> datetime:
    return EPOCH + timedelta(seconds=reading)
