"""Where a schedule is asked for, its text will do."""

from __future__ import annotations

from typing import cast

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.cron import Cron, cron
from onebeat.schedules.every import Every


def parse(text: str, tz: str = "UTC") -> Cron | Every:
    """The schedule *text* names: exactly what `cron` reads without switches (S-CRON)."""
    return cast(Cron | Every, cron(text, tz))  # only the wider grammar has more to give


def schedule_of(given: object, tz: str = "UTC") -> Schedule:
    """*given* when it is a schedule, what it says when it is a text; InvalidSchedule otherwise."""
    if isinstance(given, str):
        return parse(given, tz)
    if isinstance(given, Schedule) and not isinstance(given, type):
        return given
    raise InvalidSchedule("schedule", given, "a schedule or a cron text")
