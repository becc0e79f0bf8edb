"""The rows that decide and record, with their columns in the order of the tables'."""

from __future__ import annotations

from dataclasses import dataclass, replace

from onebeat.model import Tick
from onebeat.stores.ruling.times import micros

JobKey = tuple[str, str]
"""App and job id."""

TickKey = tuple[str, str, int]
"""App, job id and instant."""


def tick_key(app: str, tick: Tick) -> TickKey:
    return app, tick.job_id, micros(tick.scheduled_at)


@dataclass(frozen=True, slots=True)
class JobRow:
    """What decides: one row a job, never deleted.

    `token` to `released_at` belong to the newest claim that took a lease; `previous_at` and `attempt`
    to the claim of the watermark; `floor` is the newest tick that was ever pruned, `triggered_at` the newest
    triggered one that was ever claimed.
    """

    watermark: int | None = None
    previous_at: int | None = None
    floor: int | None = None
    token: str | None = None
    holder: str | None = None
    lease_until: int | None = None
    released_at: int | None = None
    fence: int = 0
    attempt: int = 1
    triggered_at: int | None = None
    schedule: str | None = None
    fingerprint: str | None = None
    first_seen: int = 0
    changed_at: int = 0
    accounted_at: int | None = None
    last_verdict: str | None = None
    last_success_at: int | None = None
    failures: int = 0

    def blocks(self, now: int) -> bool:
        """Whether a claim is neither released nor lapsed (C-LEASE)."""
        return self.lease_until is not None and self.released_at is None and now < self.lease_until

    def passed(self, scheduled_at: int, *, overlap: bool) -> bool:
        """Whether a tick without a claim of its own can no longer be won (C-ORDER)."""
        if self.floor is not None and scheduled_at <= self.floor:
            return True
        return not overlap and self.watermark is not None and scheduled_at <= self.watermark

    def owed_since(self, paused_until: int | None) -> int:
        """After which instant each tick is to have a verdict, given the end of the job's last pause."""
        return max(self.changed_at, self.accounted_at or 0, paused_until or 0)

    def accounted(self, scheduled_at: int) -> JobRow:
        """With every tick up to this one accounted for."""
        return replace(self, accounted_at=max(scheduled_at, self.accounted_at or scheduled_at))


@dataclass(frozen=True, slots=True)
class TickRow:
    """What is recorded: one row a tick, pruned in time. Without a token nobody has claimed it."""

    token: str | None = None
    holder: str | None = None
    claimed_by: str | None = None
    attempt: int = 1
    fence: int = 0
    previous_at: int | None = None
    claimed_at: int | None = None
    released_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    confirmed_at: int | None = None
    verdict: str | None = None
    provisional: int = 1
    note: str | None = None
    trace_id: str | None = None
    rerun: int = 0
    triggered: int = 0
    forced: int = 0
    asked_by: str | None = None
    reason: str | None = None
    wanted: str | None = None
