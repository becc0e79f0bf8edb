"""Zones by name, and the one place of the schedules that looks at this machine: its zone and its clock."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from onebeat.clock import SystemClock, local_zone_name
from onebeat.errors import InvalidSchedule

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_EXPECTED = "an IANA zone such as Europe/Berlin"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", re.ASCII)
# Files beside the zones: copies of this machine's zone, and zones that count leap seconds.
_NOT_A_ZONE = re.compile(r"localtime|posixrules|Factory|(posix|right)/.*", re.ASCII)


def zone_name(tz: object) -> str:
    """*tz* itself, or with "local" the name of this machine's zone (S-ZONE)."""
    if tz != "local":
        if not isinstance(tz, str):
            raise InvalidSchedule("tz", tz, _EXPECTED, "give its name, as text")
        return plain(tz)
    name = local_zone_name()
    if name is None:
        raise InvalidSchedule(
            "tz", tz, _EXPECTED, "this machine's zone has no name: set TZ, or name a zone here"
        )
    return name


def plain(text: str) -> str:
    """*text* itself, of whatever subclass: an enum's member would show in reprs and pickles of schedules."""
    return str.__str__(text)


@cache
def zone(name: str) -> ZoneInfo:
    """The zone called *name*; InvalidSchedule when there is none."""
    if not _NAME.fullmatch(name) or _NOT_A_ZONE.fullmatch(name) or len(name) > 100:
        raise InvalidSchedule("tz", name, _EXPECTED)
    from zoneinfo import ZoneInfo  # reads the system's configuration, which importing onebeat need not pay

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidSchedule("tz", name, _EXPECTED, "install tzdata if the name is right") from None


def instant_or_now(field: str, got: datetime | None) -> datetime:
    """*got*, which must be aware, or the present when it is None."""
    if got is None:
        return SystemClock().now()
    if not isinstance(got, datetime) or got.utcoffset() is None:
        raise InvalidSchedule(field, got, "a timezone-aware datetime", "datetime.now(UTC), say")
    return got


def is_local_time(tz: str, hour: int, minute: int = 0, at: datetime | None = None) -> bool:
    """Whether the wall clock in *tz* reads exactly that minute, at the instant *at* or now (S-LOCAL)."""
    checked_number("hour", hour, 23)
    checked_number("minute", minute, 59)
    wall = instant_or_now("at", at).astimezone(zone(zone_name(tz)))
    return (wall.hour, wall.minute) == (hour, minute)


def checked_number(field: str, got: object, highest: int) -> int:
    """*got*, a whole number from 0 to *highest*."""
    if isinstance(got, bool) or not isinstance(got, int) or not 0 <= got <= highest:
        raise InvalidSchedule(field, got, f"a whole number from 0 to {highest}")
    return got
