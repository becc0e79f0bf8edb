"""Ticks as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from onebeat.history import TickRecord
from onebeat.web.views.addresses import tick_path
from onebeat.web.views.text import first_line, shown
from onebeat.web.views.tick_words import badge_of
from onebeat.web.views.words import Badge, span


@dataclass(frozen=True, slots=True)
class TickRow:
    """A tick in short, and where its own page is."""

    at: datetime
    path: str
    badge: Badge
    provisional: bool
    replica: str
    attempt: int
    lateness: str
    duration: str
    error: str
    triggered: bool


def tick_rows(records: Iterable[TickRecord]) -> tuple[TickRow, ...]:
    return tuple(
        TickRow(
            at=record.tick.scheduled_at,
            path=tick_path(record.tick),
            badge=badge_of(record),
            provisional=record.provisional,
            replica="–" if record.replica is None else shown(record.replica),
            attempt=record.attempt,
            lateness=span(record.lateness),
            duration=span(record.duration),
            error=first_line(record.note),
            triggered=record.triggered,
        )
        for record in records
    )
