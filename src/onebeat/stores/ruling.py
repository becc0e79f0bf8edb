"""Pure: the rows as they stand and a bid in, the answer and the rows to write out.

Shared by the stores that decide in this process while they hold the lock. Times in rows are whole
microseconds since the Unix epoch: exact, sortable, the same in memory and in a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from onebeat.model import LONGEST, Answer, Bid, Release, Replica, Ruling, Tick

MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

JobKey = tuple[str, str]
"""App and job id."""

TickKey = tuple[str, str, int]
"""App, job id and instant."""


def micros(instant: datetime) -> int:
    return (instant - _EPOCH) // MICROSECOND


def instant(micros_: int) -> datetime:
    return _EPOCH + micros_ * MICROSECOND


def tick_key(app: str, tick: Tick) -> TickKey:
    return app, tick.job_id, micros(tick.scheduled_at)


@dataclass(frozen=True, slots=True)
class JobRow:
    """What decides: one row a job, never deleted.

    `token` to `released_at` belong to the newest claim that took a lease; `previous_at` and `attempt`
    to the claim of the watermark; `floor` is the newest tick that was ever pruned.
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
    last_verdict: str | None = None
    last_success_at: int | None = None
    failures: int = 0

    def blocks(self, now: int) -> bool:
        """Whether a claim is neither released nor lapsed (C-LEASE)."""
        return self.lease_until is not None and self.released_at is None and now < self.lease_until

    def passed(self, scheduled_at: int, *, overlap: bool) -> bool:
        """Whether a tick without a row of its own can no longer be won (C-ORDER)."""
        if self.floor is not None and scheduled_at <= self.floor:
            return True
        return not overlap and self.watermark is not None and scheduled_at <= self.watermark

    def above(self, scheduled_at: int) -> JobRow:
        """With a floor that shuts out a tick about to be pruned, and all older ones."""
        return replace(self, floor=scheduled_at if self.floor is None else max(self.floor, scheduled_at))


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

    @property
    def ended(self) -> bool:
        """Whether no unreleased claim holds it: only then may it be pruned (D-PRUNE)."""
        return self.token is None or self.released_at is not None


class Ruled(NamedTuple):
    """An answer, and the rows to write with it: none unless the bid has won just now."""

    answer: Answer
    job: JobRow | None = None
    tick: TickRow | None = None


def rule(
    job: JobRow | None,
    tick: TickRow | None,
    bid: Bid,
    *,
    now: int,
    tolerance: timedelta,
    replica: Replica,
    expired: bool = False,
) -> Ruled:
    """What becomes of *bid*, given the rows of its job and its tick as they stand under the lock.

    The tick's own row comes first, whatever the watermark says: a token asked again after a later claim
    is told its stored answer, and after a repair a tick once won stays won. Once that row is pruned, which
    takes a release, only a late duplicate can ask, and it is refused like anybody.
    """
    job = job or JobRow(first_seen=now, changed_at=now)
    scheduled_at = micros(bid.tick.scheduled_at)
    if tick is not None and tick.token is not None:
        if tick.token == bid.token:
            return Ruled(_won(job, tick, bid, now))
        return Ruled(replace(_answer(job, bid, Ruling.CLAIMED, now), claimed_by=tick.claimed_by))
    if job.passed(scheduled_at, overlap=bid.lease is None):
        return Ruled(_answer(job, bid, Ruling.CLAIMED, now))
    if scheduled_at > now + tolerance // MICROSECOND:
        return Ruled(_answer(job, bid, Ruling.EARLY, now))
    if bid.lease is not None and job.blocks(now):
        return Ruled(_answer(job, bid, Ruling.OVERLAPPED, now))
    if expired:
        return Ruled(_answer(job, bid, Ruling.EXPIRED, now))
    claimed = _claimed_job(job, bid, now=now, replica=replica)
    record = TickRow(
        token=bid.token,
        holder=replica.id,
        claimed_by=replica.label,
        fence=claimed.fence,
        previous_at=job.watermark,
        claimed_at=now,
    )
    return Ruled(_won(claimed, record, bid, now), claimed, record)


def _claimed_job(job: JobRow, bid: Bid, *, now: int, replica: Replica) -> JobRow:
    """The job's row with *bid* won. One that allows overlap leaves another claim's lease alone."""
    scheduled_at = micros(bid.tick.scheduled_at)
    # Never below the store's clock: so it grows across a restore or a move to another store as well.
    claimed = replace(job, fence=max(job.fence + 1, now))
    if job.watermark is None or scheduled_at > job.watermark:
        claimed = replace(claimed, watermark=scheduled_at, previous_at=job.watermark, attempt=1)
    if bid.lease is None:
        return claimed
    lease = min(bid.lease, LONGEST) // MICROSECOND
    return replace(claimed, token=bid.token, holder=replica.id, lease_until=now + lease, released_at=None)


def _won(job: JobRow, claim: TickRow, bid: Bid, now: int) -> Answer:
    """The win as *claim* records it, now or long ago."""
    return replace(
        _answer(job, bid, Ruling.WON, now),
        fence=claim.fence,
        attempt=claim.attempt,
        previous_at=_instant_or_none(claim.previous_at),
    )


def _answer(job: JobRow, bid: Bid, ruling: Ruling, now: int) -> Answer:
    return Answer(bid.tick, bid.token, ruling, instant(now), watermark=_instant_or_none(job.watermark))


def _instant_or_none(micros_: int | None) -> datetime | None:
    return None if micros_ is None else instant(micros_)


def end(
    job: JobRow | None, tick: TickRow | None, release: Release, *, now: int
) -> tuple[JobRow | None, TickRow | None]:
    """The rows to write when *release* ends its claim; (None, None) when there is nothing to end.

    A claim ends once, and only by its own tick and token (C-RELEASE).
    """
    if tick is None or tick.token != release.token or tick.released_at is not None:
        return None, None
    ended = replace(
        tick,
        released_at=now,
        started_at=_micros_or_none(release.started_at),
        finished_at=_micros_or_none(release.finished_at),
        verdict=release.verdict.value,
        provisional=0,
        note=release.error,
        trace_id=release.trace_id,
    )
    if job is None or job.token != release.token:
        return None, ended
    return replace(job, released_at=now), ended


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def repair(job: JobRow | None, ticks: Mapping[int, TickRow], *, now: int) -> JobRow | None:
    """The job's row with a watermark ahead of *now* taken back; None when none is ahead.

    *ticks* are the job's rows by their instants. The watermark goes back to the newest claimed of them that
    *now* has reached. A lease taken by a clock that was ahead would block for as long as that clock led:
    it is counted from *now* instead.
    """
    if job is None or job.watermark is None or job.watermark <= now:
        return None
    reached = [at for at, tick in ticks.items() if tick.token is not None and at <= now]
    if job.floor is not None:
        reached.append(job.floor)
    lease_until = job.lease_until
    for tick in ticks.values():
        if tick.token == job.token and lease_until is not None and tick.claimed_at is not None:
            lease_until = min(lease_until, now + lease_until - tick.claimed_at)
    return replace(job, watermark=max(reached, default=None), lease_until=lease_until)
