"""When a job is due next, and on which of those days the clocks change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from onebeat.schedule import Schedule
from onebeat.schedules.compose import plain_parts
from onebeat.schedules.explain import explain
from onebeat.schedules.timetable import Timetable
from onebeat.schedules.wall import wall_of

COUNT = 20


@dataclass(frozen=True, slots=True)
class Coming:
    """A due instant. `walls` are what the clocks of the schedule's zones read then, and `changes` what they
    do on that day. `paused` says that a pause that is known will still hold."""

    at: datetime
    walls: tuple[str, ...]
    changes: tuple[str, ...]
    paused: bool


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The next COUNT instants, or fewer when there are no more. `zones` are those of the schedule, or that of
    the pages for one that goes by no wall clock. `warnings` tell of the year ahead."""

    sentence: str
    zones: tuple[str, ...]
    coming: tuple[Coming, ...]
    warnings: tuple[str, ...]


def upcoming(schedule: Schedule, now: datetime, shown_in: tzinfo, paused_until: datetime | None) -> Upcoming:
    told = explain(schedule, after=now, count=COUNT)
    zones = zones_of(schedule) or (str(shown_in),)
    return Upcoming(
        sentence=told.sentence,
        zones=zones,
        coming=tuple(_coming(at, zones, paused_until) for at in told.instants),
        warnings=told.warnings,
    )


def zones_of(schedule: Schedule) -> tuple[str, ...]:
    """The zones by whose wall clocks it goes."""
    tables = (part for part in plain_parts(schedule) if isinstance(part, Timetable))
    return tuple(dict.fromkeys(table.tz for table in tables))


def clock_changes(day: date, tz: str) -> tuple[str, ...]:
    """What the clocks of the zone *tz* do on that *day*, in words."""
    wall = wall_of(tz, "skip", "both")
    start, end = (_midnight(each, tz) for each in (day, day + timedelta(days=1)))
    return tuple(
        f"clocks in {tz} go {'forward' if shift.after > shift.before else 'back'} "
        f"{_length(abs(shift.after - shift.before))}, "
        f"from {_reading(shift.at + shift.before)} to {_reading(shift.at + shift.after)}"
        for shift in wall.shifts(start - 1, end - 1)
    )


def _coming(at: datetime, zones: tuple[str, ...], paused_until: datetime | None) -> Coming:
    walls = [at.astimezone(ZoneInfo(tz)) for tz in zones]
    return Coming(
        at=at,
        walls=tuple(f"{wall:%a %Y-%m-%d %H:%M:%S %Z}" for wall in walls),
        changes=tuple(
            change for wall, tz in zip(walls, zones, strict=True) for change in clock_changes(wall.date(), tz)
        ),
        paused=paused_until is not None and at < paused_until,
    )


def _midnight(day: date, tz: str) -> int:
    return int(datetime.combine(day, time(), ZoneInfo(tz)).timestamp())


def _reading(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M}"


def _length(seconds: int) -> str:
    hours, minutes = divmod(seconds // 60, 60)
    return " ".join(f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min")) if number)
