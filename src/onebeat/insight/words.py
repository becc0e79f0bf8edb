"""Instants, spans and verdicts in plain text, as commands print and take them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from onebeat.history import TickRecord
from onebeat.model import TRACEBACK


def instant(moment: datetime | None, shown_in: tzinfo = UTC) -> str:
    """To the second, with the offset of *shown_in* then: it can be given back as it is. A dash for None."""
    if moment is None:
        return "-"
    text = written_in(shown_in, moment).isoformat(" ", "seconds")
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text.removesuffix(":00")


def span(seconds: float | None) -> str:
    """0.25s, 12s, 3m05s, 2h10m, 3d4h; a dash for None."""
    if seconds is None:
        return "-"
    if abs(seconds) < 60:
        return f"{seconds:.2f}s" if abs(seconds) < 10 else f"{seconds:.0f}s"
    minutes, rest = divmod(round(abs(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    sign = "-" if seconds < 0 else ""
    if days:
        return f"{sign}{days}d{hours}h"
    return f"{sign}{hours}h{minutes:02}m" if hours else f"{sign}{minutes}m{rest:02}s"


def said(note: str) -> str:
    """What is noted, without the traceback of an error."""
    return note.partition(TRACEBACK)[0]


def traced(note: str) -> str:
    """The traceback in it, if there is one."""
    return note.partition(TRACEBACK)[2]


def verdict_of(record: TickRecord) -> str:
    """What became of it, or what it waits for."""
    if record.verdict is not None:
        return record.verdict.value
    if record.wanted is not None and record.replica is None:
        return "waiting"
    return "running"


def written_in(zone: tzinfo, instant: datetime) -> datetime:
    """*instant* by the clocks of *zone*, or in UTC where these have left the years 1 to 9999."""
    try:
        return instant.astimezone(zone)
    except OverflowError:
        return instant
