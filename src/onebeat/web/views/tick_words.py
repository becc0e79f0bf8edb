"""A tick as one sign and a few words."""

from __future__ import annotations

from onebeat.history import TickRecord
from onebeat.web.views.text import cut, first_line
from onebeat.web.views.words import Badge, badge, span

WAITING = Badge("…", "skipped", "waiting for a replica")
UNCLAIMED = Badge("◌", "missed", "claimed by nobody so far")
UNKNOWN = Badge("·", "skipped", "nothing written down")


def badge_of(record: TickRecord) -> Badge:
    """That of its verdict; of what was triggered and is not taken up yet, one that says so."""
    return WAITING if record.verdict is None and record.replica is None else badge(record.verdict)


def brief(record: TickRecord) -> str:
    """What became of it, in one line: when it was due, how late it began, how long it took, its error."""
    parts = [f"{record.tick.scheduled_at:%Y-%m-%d %H:%M:%S} UTC", badge_of(record).word]
    if record.replica is not None:
        parts.append(f"on {cut(record.replica, 40)}")
    if record.lateness is not None:
        parts.append(f"{span(record.lateness)} late")
    if record.duration is not None:
        parts.append(f"took {span(record.duration)}")
    if record.note:
        parts.append(first_line(record.note, 80))
    return ", ".join(parts)
