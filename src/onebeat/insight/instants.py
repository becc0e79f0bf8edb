"""Instants as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta

EXPECTED = "an instant with its zone (2027-03-28T09:00+02:00) or a span (90s, 15m, 2h, 3d)"

_SPANS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def read_instant(text: str, now: datetime, *, ahead: bool = False) -> datetime | None:
    """An instant in ISO 8601 with its zone, or a span such as 90s, 15m, 2h or 3d: *ahead* of now, or ago.
    None for anything else."""
    unit = _SPANS.get(text[-1:])
    try:
        if unit and text[:-1].isdecimal():
            span = timedelta(seconds=int(text[:-1]) * unit)
            return now + span if ahead else now - span
        instant = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return None if instant.tzinfo is None else instant
