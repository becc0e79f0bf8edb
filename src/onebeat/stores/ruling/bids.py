"""What becomes of a bid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from onebeat.model import LONGEST, Answer, Bid, Replica, Ruling, Verdict, Wanted
from onebeat.stores.ruling.pauses import Pauses
from onebeat.stores.ruling.rows import JobRow, TickRow
from onebeat.stores.ruling.times import MICROSECOND, instant, instant_or_none, micros

_TOLD_IN_ITS_ROW = {Ruling.OVERLAPPED: Verdict.OVERLAPPED, Ruling.PAUSED: Verdict.PAUSED}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the bids of one claim are judged by, beside the rows of their jobs and ticks.

    `dead` are the ids of the app's replicas that were declared dead. `expired`: whoever asks has given up.
    """

    now: int
    tolerance: timedelta
    replica: Replica
    dead: frozenset[str]
    pauses: Pauses
    expired: bool

    def blocked(self, job: JobRow) -> bool:
        """Whether a claim blocks the job's other ticks. Those of the dead block nothing (F-JUDGE)."""
        return job.blocks(self.now) and job.holder not in self.dead

    @property
    def too_late(self) -> bool:
        """Whether nothing is won any more; nor by the dead: what they won would block nobody."""
        return self.expired or self.replica.id in self.dead


class Ruled(NamedTuple):
    """An answer, and the rows to write with it."""

    answer: Answer
    job: JobRow | None = None
    tick: TickRow | None = None


def rule(job: JobRow | None, tick: TickRow | None, bid: Bid, given: Circumstances) -> Ruled:
    """What becomes of *bid*, given the rows of its job and its tick as they stand under the lock.

    The tick's own row comes first, whatever the watermark says: a token asked again after a later claim
    is told its stored answer, and after a repair a tick once won stays won. Once that row is pruned, which
    takes a release, only a late duplicate can ask, and it is refused like anybody.
    """
    job = job or JobRow(first_seen=given.now, changed_at=given.now)
    if tick is not None and tick.token == bid.token:
        return Ruled(_won(job, tick, bid, given))
    refusal = _refusal(job, tick, bid, given)
    if refusal is not None:
        return _refused(refusal, job, tick, bid, given)
    claimed = _claimed_job(job, bid, given)
    record = _record(job, tick or TickRow(), bid, given, fence=claimed.fence)
    return Ruled(_won(claimed, record, bid, given), claimed, record)


def _refusal(job: JobRow, tick: TickRow | None, bid: Bid, given: Circumstances) -> Ruling | None:
    """Why *bid* does not win; None when it does. What was triggered is neither early nor paused."""
    if not _is_free(job, tick, bid):
        return Ruling.CLAIMED
    if not bid.triggered and micros(bid.tick.scheduled_at) > given.now + given.tolerance // MICROSECOND:
        return Ruling.EARLY
    if not bid.triggered and given.pauses.cover(bid.tick.job_id):
        return Ruling.PAUSED
    if bid.lease is not None and given.blocked(job) and not _is_kept(job, tick, bid):
        return Ruling.OVERLAPPED
    return Ruling.EXPIRED if given.too_late else None


def _is_free(job: JobRow, tick: TickRow | None, bid: Bid) -> bool:
    """Whether what *bid* asks for was not won before, and may be won yet."""
    if bid.triggered:
        return tick is not None and tick.wanted == Wanted.RUN
    if bid.attempt > 1:
        return tick is not None and _is_next_attempt(job, tick, bid)
    is_claimed = tick is not None and tick.token is not None
    return not is_claimed and not job.passed(micros(bid.tick.scheduled_at), overlap=bid.lease is None)


def _is_next_attempt(job: JobRow, tick: TickRow, bid: Bid) -> bool:
    """Whether the attempt before was lost, and the job has not gone on since (C-CRASH)."""
    is_lost = tick.verdict == Verdict.LOST and tick.attempt == job.attempt == bid.attempt - 1
    return is_lost and job.watermark == micros(bid.tick.scheduled_at)


def _is_kept(job: JobRow, tick: TickRow | None, bid: Bid) -> bool:
    """Whether the lease is that of the attempt before, which was lost."""
    return bid.attempt > 1 and tick is not None and tick.token == job.token


def _refused(ruling: Ruling, job: JobRow, tick: TickRow | None, bid: Bid, given: Circumstances) -> Ruled:
    """The refusal; a tick without a row gets one that keeps it, until somebody wins it (F-VERDICT)."""
    answer = _answer(job, bid, ruling, given)
    if tick is not None:
        return Ruled(replace(answer, claimed_by=tick.claimed_by))
    if ruling not in _TOLD_IN_ITS_ROW:
        return Ruled(answer)
    return Ruled(answer, tick=TickRow(verdict=_TOLD_IN_ITS_ROW[ruling].value, note=given.replica.label))


def _claimed_job(job: JobRow, bid: Bid, given: Circumstances) -> JobRow:
    """The job's row with *bid* won. One that allows overlap leaves another claim's lease alone."""
    # Never below the store's clock: so it grows across a restore or a move to another store as well.
    claimed = _moved(replace(job, fence=max(job.fence + 1, given.now)), bid)
    if bid.lease is None:
        return claimed
    lease_until = given.now + min(bid.lease, LONGEST) // MICROSECOND
    return replace(
        claimed, token=bid.token, holder=given.replica.id, lease_until=lease_until, released_at=None
    )


def _moved(job: JobRow, bid: Bid) -> JobRow:
    """With the watermark where *bid* takes it: a trigger has its own, an attempt is at it."""
    scheduled_at = micros(bid.tick.scheduled_at)
    if bid.triggered:
        return replace(job, triggered_at=max(scheduled_at, job.triggered_at or scheduled_at))
    if bid.attempt > 1:
        return replace(job, attempt=bid.attempt)
    if job.watermark is None or scheduled_at > job.watermark:
        return replace(job, watermark=scheduled_at, previous_at=job.watermark, attempt=1)
    return job


def _record(job: JobRow, tick: TickRow, bid: Bid, given: Circumstances, *, fence: int) -> TickRow:
    """The tick's row with *bid* won, in place of whatever verdict it had. Who asked for it stays."""
    waited_for = bid.triggered or bid.attempt > 1
    return TickRow(
        token=bid.token,
        holder=given.replica.id,
        claimed_by=given.replica.label,
        attempt=bid.attempt,
        fence=fence,
        previous_at=tick.previous_at if waited_for else job.watermark,
        claimed_at=given.now,
        rerun=int(bid.rerun),
        triggered=tick.triggered,
        forced=tick.forced,
        asked_by=tick.asked_by,
        reason=tick.reason,
    )


def _won(job: JobRow, claim: TickRow, bid: Bid, given: Circumstances) -> Answer:
    """The win as *claim* records it, now or long ago."""
    return replace(
        _answer(job, bid, Ruling.WON, given),
        fence=claim.fence,
        attempt=claim.attempt,
        previous_at=instant_or_none(claim.previous_at),
        owed_since=instant(job.owed_since(given.pauses.ended(bid.tick.job_id))),
        claimed_by=claim.claimed_by,
    )


def _answer(job: JobRow, bid: Bid, ruling: Ruling, given: Circumstances) -> Answer:
    watermark = instant_or_none(job.watermark)
    return Answer(bid.tick, bid.token, ruling, instant(given.now), watermark=watermark)
