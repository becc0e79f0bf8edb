"""The due instants of any schedule, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

from onebeat.schedule import Schedule


def due_after(schedule: Schedule, moment: datetime) -> Iterator[datetime]:
    """Every due instant later than *moment*, in order; for most schedules that has no end."""
    due = schedule.next_after(moment)
    while due is not None:
        yield due
        due = schedule.next_after(due)


def due_between(schedule: Schedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """The due instants in (after, until], in order."""
    return takewhile(lambda due: due <= until, due_after(schedule, after))
