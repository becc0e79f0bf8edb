"""When a job comes next, as far as the store's rows tell."""

from __future__ import annotations

from datetime import datetime, timedelta

from onebeat.history import END_OF_TIME, JobState
from onebeat.schedules.stored import stored

_AT_ALL = timedelta(microseconds=1)


def next_of(job: JobState, now: datetime) -> datetime | None:
    """The first instant after *now*, and not covered by a pause as things stand; None where there is none, or
    its schedule was written elsewhere."""
    schedule = None if job.schedule is None else stored(job.schedule)
    if schedule is None or job.paused_until == END_OF_TIME:
        return None
    # What is due right at its end a pause does not cover.
    return schedule.next_after(now if job.paused_until is None else max(now, job.paused_until - _AT_ALL))
