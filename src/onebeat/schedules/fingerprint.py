"""What a schedule is, in a few characters: to be shown, and to be compared between replicas (F-DRIFT)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256

from onebeat.schedule import Schedule
from onebeat.schedules.between import Between
from onebeat.schedules.closed import Closed
from onebeat.schedules.every import Every
from onebeat.schedules.timetable import Timetable
from onebeat.schedules.union import Union
from onebeat.schedules.without import Without

LONGEST_TEXT = 500
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Summer and winter of both hemispheres, so far ahead that zone data of another edition, or older rules
# for the change of the clocks, show.
_PROBES = tuple(
    datetime(year, month, day, tzinfo=UTC)
    for year, month, day in ((2030, 1, 15), (2030, 7, 15), (2035, 4, 1), (2035, 10, 1))
)
_UNTOLD = "0" * 16


def text_of(schedule: Schedule) -> str:
    """*schedule* as it is shown: its repr, printable, at most 500 characters, without memory addresses."""
    try:
        text = repr(schedule)
    except Exception:  # written elsewhere
        text = type(schedule).__qualname__
    text = "".join(char if char.isprintable() else " " for char in _ADDRESS.sub("", text))
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def digest_of(schedule: Schedule) -> str:
    """Sixteen hex digits: equal for equal schedules under the same zone data, whatever process asks.

    Of a schedule written elsewhere only what it answers counts, for its repr may differ from process to
    process; of one that raises nothing does.
    """
    try:
        dues = [_told(schedule.next_after(probe)) for probe in _PROBES]
    except (Exception, SystemExit):  # written elsewhere
        return _UNTOLD
    return sha256("\n".join((_rule(schedule), *dues)).encode()).hexdigest()[:16]


def _told(due: datetime | None) -> str:
    return "never" if due is None else due.astimezone(UTC).isoformat()


def _rule(schedule: Schedule | Closed) -> str:
    """What makes two schedules of ours equal, as text. Not the repr: it may spell equal ones differently."""
    match schedule:
        case Every(period):
            return f"every {period}"
        case Timetable(hours, minutes, seconds, days, wall):
            return f"{hours:x} {minutes:x} {seconds:x} {days}{wall.settings}"
        case Union(parts):
            return "any of " + ", ".join(map(_rule, parts))
        case Between(inner, start, end):
            return f"{_rule(inner)} in {start} {end}"
        case Without(inner, excluded):
            return f"{_rule(inner)} without " + ", ".join(map(_rule, excluded))
        case Closed():
            return repr(schedule)
        case _:
            return ""
