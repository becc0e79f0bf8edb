"""Which jobs are to come due: from the store's rows to groups that come due together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from onebeat.history import END_OF_TIME, JobState
from onebeat.schedule import Schedule
from onebeat.schedules.stored import stored


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs of one schedule, from *begin* on."""

    schedule: Schedule
    begin: datetime
    job_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is counted, and what is not: jobs whose schedule cannot be read here, jobs that no living replica
    has, and jobs paused without an end. `served` is False where nobody lives to run any."""

    groups: tuple[Group, ...]
    unread: tuple[str, ...]
    unserved: tuple[str, ...]
    paused: tuple[str, ...]
    served: bool

    @property
    def jobs(self) -> int:
        return sum(len(group.job_ids) for group in self.groups)


def plan_of(jobs: Iterable[JobState], served: Collection[str] | None, now: datetime) -> Plan:
    """From *now* on, which begins a minute. *served* are the jobs that living replicas have registered; None
    where none lives: then all count, as they will when one does."""
    groups: dict[tuple[str, datetime], list[str]] = defaultdict(list)
    unread, unserved, paused = [], [], []
    for job in jobs:
        if served is not None and job.job_id not in served:
            unserved.append(job.job_id)
        elif job.paused_until == END_OF_TIME:
            paused.append(job.job_id)
        elif job.schedule is None or stored(job.schedule) is None:
            unread.append(job.job_id)
        else:
            groups[job.schedule, max(now, job.paused_until or now)].append(job.job_id)
    return Plan(
        groups=tuple(
            Group(schedule, begin, tuple(job_ids))
            for (text, begin), job_ids in groups.items()
            if (schedule := stored(text)) is not None
        ),
        unread=tuple(unread),
        unserved=tuple(unserved),
        paused=tuple(paused),
        served=served is not None,
    )
