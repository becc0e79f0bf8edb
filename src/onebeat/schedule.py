"""CONTRACT when: a schedule is a pure function of an instant."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Schedule(Protocol):
    """When a job is due. Frozen, hashable, comparable, picklable; no clock, no I/O (S-NEXT, S-VALUE).

    Instants are timezone-aware; answers are in UTC. Equal schedules answer equally, on every replica
    and in every process: the instants are the keys of claims. A naive datetime is InvalidSchedule.
    """

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*; None if there is none, at once."""

    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*; None if there is none."""

    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""


@runtime_checkable
class PerJob(Protocol):
    """A schedule that may depend on the job it is for: registering a job asks it for that job's own."""

    def for_job(self, job_id: str) -> Schedule:
        """The schedule of *job_id*, the same on every replica; itself when it does not depend on it."""


def for_job(schedule: Schedule, job_id: str) -> Schedule:
    """*schedule* as it is for *job_id*."""
    return schedule.for_job(job_id) if isinstance(schedule, PerJob) else schedule
