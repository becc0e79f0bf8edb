"""What the demo's replicas run: the same jobs in each, as in any replicated service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from onebeat.schedule import Schedule
from onebeat.schedules.cron import cron
from onebeat.schedules.every import every

LABELS = ("alpha", "bravo", "charlie")
LEASE_MARGIN = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class DemoJob:
    """A job whose body takes *seconds*."""

    id: str
    schedule: Schedule
    seconds: float
    timeout: timedelta

    @property
    def lease(self) -> timedelta:
        return self.timeout + LEASE_MARGIN


def _seldom(job_id: str, schedule: Schedule) -> DemoJob:
    return DemoJob(job_id, schedule, seconds=0, timeout=timedelta(seconds=1))


# The one that a replica is killed in. Its body leaves time to kill it; its lease outlasts its period, so
# that the tick after the lost one is refused and the one after that runs: what a crash costs, in full.
LONG_JOB = DemoJob("export", every(seconds=3), seconds=1.8, timeout=timedelta(seconds=2.5))

JOBS = (
    DemoJob("heartbeat", every(seconds=1), seconds=0, timeout=timedelta(seconds=1)),
    DemoJob("report", cron("*/2 * * * * *", seconds=True), seconds=0.2, timeout=timedelta(seconds=1)),
    LONG_JOB,
    # Seldom due in a demo: they are what its calendar has to show.
    _seldom("prices", cron("*/15 * * * *")),
    _seldom("cleanup", cron("17 * * * *")),
    _seldom("invoices", cron("30 2 * * *", tz="Europe/Berlin")),
    _seldom("digest", cron("0 9 * * 1-5", tz="America/New_York")),
)
