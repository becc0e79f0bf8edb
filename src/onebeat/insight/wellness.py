"""Whether a fleet is well, and if not, why. What the store told in, words out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from onebeat.drift import disagreements
from onebeat.history import (
    MOST_ROWS,
    OF_LATE,
    JobState,
    ReplicaState,
    RunHistory,
    TickFilter,
    TickRecord,
)

SILENCE = timedelta(minutes=2)
"""Who has not beaten for so long is not counted among the living, although nobody has declared it dead: where
all have died, nobody is left to. A replica beats every 15 seconds, unless its TTL is not the default."""


def lives(replica: ReplicaState, now: datetime) -> bool:
    """Whether *replica* still runs, as far as can be told from outside; *now* is the store's clock."""
    return replica.dead_at is None and now - replica.beat_at <= SILENCE


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet at one moment, *now* by the store's clock."""

    now: datetime
    replicas: tuple[ReplicaState, ...]
    jobs: tuple[JobState, ...]
    running: tuple[TickRecord, ...]

    @property
    def living(self) -> Sequence[ReplicaState]:
        return [replica for replica in self.replicas if lives(replica, self.now)]

    @property
    def silent(self) -> Sequence[ReplicaState]:
        """Those that neither beat nor were declared dead."""
        return [
            replica for replica in self.replicas if replica.dead_at is None and not lives(replica, self.now)
        ]

    @property
    def failing(self) -> Sequence[JobState]:
        """The worst first."""
        return sorted((job for job in self.jobs if job.failures), key=lambda job: (-job.failures, job.job_id))

    @property
    def dead(self) -> Sequence[ReplicaState]:
        """Those that died of late, the latest first: not those that left in order."""
        gone = [replica for replica in self.replicas if replica.dead_at is not None and not replica.left]
        return sorted(gone, key=lambda replica: replica.dead_at or self.now, reverse=True)

    @property
    def untried(self) -> Sequence[JobState]:
        """Jobs that never succeeded, and do not count among the failing: new ones, mostly."""
        return [job for job in self.jobs if job.last_success_at is None and not job.failures]

    @property
    def paused(self) -> Sequence[JobState]:
        return [job for job in self.jobs if job.paused_until is not None]

    @property
    def troubles(self) -> Sequence[str]:
        """Why it is not well; none when it is."""
        found = []
        if not self.living:
            found.append("no replica lives")
        if self.failing:
            found.append(f"{len(self.failing)} of {len(self.jobs)} jobs fail")
        found += [str(one) for one in disagreements(self.replicas, now=self.now)]
        return found


async def fleet_of(history: RunHistory, app: str) -> Fleet:
    """The fleet as it stands: all its jobs, however many."""
    jobs = await all_jobs(history, app)
    now = await history.store_time()
    which = TickFilter(running=True, since=running_since(jobs, now))
    running = await history.ticks(which, app=app, limit=MOST_ROWS)
    return Fleet(now, tuple(await history.replicas(app=app)), tuple(jobs), running.rows)


async def all_jobs(history: RunHistory, app: str) -> Sequence[JobState]:
    """By id."""
    jobs: list[JobState] = []
    after = None
    while True:
        page = await history.jobs(app=app, limit=MOST_ROWS, after=after)
        jobs += page.rows
        after = page.next
        if after is None:
            return jobs


def running_since(jobs: Sequence[JobState], now: datetime) -> datetime:
    """From when on a tick may run still: without a bound the store would look through the whole history.

    What holds its job is no older than the job's watermark; of jobs that may overlap, which hold nothing, a
    day is looked through."""
    return min([now - OF_LATE, *(job.watermark for job in jobs if job.holder and job.watermark)])
