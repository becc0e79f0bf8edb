"""How claims end: released by their holder, or lost with it; and how one that came back takes them up."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from onebeat.fleet import KEPT_FOR_A_RERUN, Held
from onebeat.model import LONGEST, Release, Replica, Verdict, Wanted
from onebeat.stores.ruling.rows import JobRow, TickRow
from onebeat.stores.ruling.times import MICROSECOND, micros, micros_or_none

_FAILURES = (Verdict.FAILED, Verdict.TIMED_OUT, Verdict.LOST)


class Rows(NamedTuple):
    """The rows of a job and of one of its ticks, as they are to be written."""

    job: JobRow
    tick: TickRow


def end(job: JobRow | None, tick: TickRow | None, release: Release, *, now: int) -> Rows | None:
    """The rows to write when *release* ends its claim; None when there is nothing to end.

    A claim ends once, and only by its own tick and token (C-RELEASE).
    """
    if job is None or tick is None or tick.token != release.token or tick.released_at is not None:
        return None
    ended = replace(
        tick,
        released_at=now,
        started_at=micros_or_none(release.started_at),
        finished_at=micros_or_none(release.finished_at),
        verdict=release.verdict.value,
        provisional=0,
        note=release.error,
        trace_id=release.trace_id,
        wanted=None,
    )
    if release.accounts:
        job = job.accounted(micros(release.tick.scheduled_at))
    return Rows(_judged(_freed(job, release.token, now), release.verdict, now), ended)


def lose(job: JobRow, tick: TickRow, *, judge: Replica, scheduled_at: int, now: int) -> Rows:
    """The rows of an unreleased claim whose holder was declared dead, by *judge*.

    It may be run once more where its bid allowed that, while no later tick of the job was claimed; for a
    while its lease lets none be.
    """
    again = tick.rerun and job.watermark == scheduled_at and job.attempt == tick.attempt
    lost = replace(
        tick,
        released_at=now,
        verdict=Verdict.LOST.value,
        provisional=0,
        note=f"its replica {tick.claimed_by} was declared dead",
        wanted=Wanted.RERUN.value if again else None,
    )
    if again and job.token == tick.token:
        job = replace(job, holder=judge.id, lease_until=now + KEPT_FOR_A_RERUN // MICROSECOND)
    else:
        job = _freed(job, tick.token, now)
    return Rows(_judged(job, Verdict.LOST, now), lost)


def take_back(
    job: JobRow | None, tick: TickRow | None, claim: Held, *, replica: Replica, now: int
) -> Rows | None:
    """The rows with *claim* taken up again by *replica*, though it was lost meanwhile; None when another
    claim of its tick, or one that took a lease of its job, was won since (F-LOST)."""
    if job is None or tick is None or tick.token != claim.token:
        return None
    if claim.lease is not None and job.token != claim.token:
        return None
    if job.token == claim.token:
        job = replace(job, holder=replica.id)
    tick = replace(tick, holder=replica.id, claimed_by=replica.label)
    if tick.verdict != Verdict.LOST:
        return Rows(job, tick)
    if job.token == claim.token and claim.lease is not None:
        job = replace(job, released_at=None, lease_until=now + min(claim.lease, LONGEST) // MICROSECOND)
    held = replace(tick, released_at=None, verdict=None, provisional=1, note=None, wanted=None)
    return Rows(replace(job, failures=max(job.failures - 1, 0)), held)


def _freed(job: JobRow, token: str | None, now: int) -> JobRow:
    """With its lease ended, if it is that of *token*."""
    return replace(job, released_at=now) if job.token == token else job


def _judged(job: JobRow, verdict: Verdict, now: int) -> JobRow:
    """With *verdict* as its last one. What was cancelled says nothing about how the job does."""
    job = replace(job, last_verdict=verdict.value)
    if verdict is Verdict.RAN:
        return replace(job, last_success_at=now, failures=0)
    return replace(job, failures=job.failures + 1) if verdict in _FAILURES else job
