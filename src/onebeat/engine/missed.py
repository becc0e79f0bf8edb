"""Pure: which ticks a win leaves behind it, and what a job still owes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from onebeat.schedule import Schedule

MOST_MISSED = 1_000
"""How many missed ticks a winner writes down, the newest: a job of every second may have been away long."""


def missed_between(
    schedule: Schedule, tick_at: datetime, owed_since: datetime | None
) -> tuple[datetime, ...]:
    """The due instants in (*owed_since*, *tick_at*), the newest MOST_MISSED, in order (F-VERDICT)."""
    if owed_since is None:
        return ()
    missed = islice(_back_from(schedule, tick_at, owed_since), MOST_MISSED)
    return tuple(reversed(list(missed)))


def owed_between(
    schedule: Schedule,
    watermark: datetime | None,
    owed_since: datetime,
    now: datetime,
    *,
    window: timedelta,
    most: int,
) -> tuple[datetime, ...]:
    """The newest *most* due instants up to *now* that the job owes: after the newest claimed one, after
    its registration, last change and last pause, and within *window* (C-CATCH)."""
    since = max(owed_since, now - window, watermark or owed_since)
    newest = schedule.previous_before(now + timedelta(microseconds=1))
    if newest is None or newest <= since:
        return ()
    owed = [newest.astimezone(UTC), *islice(_back_from(schedule, newest, since), most - 1)]
    return tuple(reversed(owed))


def _back_from(schedule: Schedule, moment: datetime, since: datetime) -> Iterator[datetime]:
    """The due instants in (since, moment), the newest first."""
    due = schedule.previous_before(moment)
    while due is not None and since < due < moment:
        yield due.astimezone(UTC)
        moment, due = due, schedule.previous_before(due)
