"""Whether an alarm sounds, from what the store knows of a job. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from onebeat.alerts.alarm import Alarm
from onebeat.alerts.alert import Condition
from onebeat.history import JobState, TickRecord
from onebeat.model import Verdict

MISSING = (Verdict.MISSED, Verdict.LOST)


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition of one job, judged for one alarm. `over` says in words that it holds no longer."""

    key: str
    job_id: str
    condition: Condition
    sounding: bool
    text: str
    over: str


def judged(alarm: Alarm, job: JobState, now: datetime) -> Iterator[Finding]:
    """What *alarm* makes of *job* at *now*. A paused job is not judged: its silence is wanted."""
    if job.paused_until is not None and job.paused_until > now:
        return
    if isinstance(alarm.silent_for, timedelta):
        yield _silence(alarm.silent_for, job, now)
    if alarm.failures is not None:
        yield _failures(alarm.failures, job)


def missing(ticks: Iterable[TickRecord]) -> dict[str, Finding]:
    """By job, that it has missed or lost ticks; the newest of *ticks* come first."""
    newest: dict[str, TickRecord] = {}
    for record in ticks:
        newest.setdefault(record.tick.job_id, record)
    return {job_id: _miss(record) for job_id, record in newest.items()}


def missing_key(job_id: str) -> str:
    return f"{Condition.MISSED}:{job_id}"


def _silence(limit: timedelta, job: JobState, now: datetime) -> Finding:
    # What the job did not owe is not held against it: the time before it was registered, changed or resumed.
    since = max(job.last_success_at or job.first_seen, job.owed_since)
    seconds = f"{limit.total_seconds():.15g}"
    last = "never" if job.last_success_at is None else f"last at {job.last_success_at:%Y-%m-%d %H:%M:%S} UTC"
    return Finding(
        key=f"{Condition.SILENT}:{seconds}:{job.job_id}",
        job_id=job.job_id,
        condition=Condition.SILENT,
        sounding=now - since > limit,
        text=f"{job.job_id} has not succeeded for {limit} ({last})",
        over=f"{job.job_id} has succeeded again",
    )


def _failures(limit: int, job: JobState) -> Finding:
    verdict = f", the last of them {job.last_verdict}" if job.last_verdict is not None else ""
    return Finding(
        key=f"{Condition.FAILURES}:{limit}:{job.job_id}",
        job_id=job.job_id,
        condition=Condition.FAILURES,
        sounding=job.failures >= limit,
        text=f"{job.job_id} has failed {job.failures} times in a row{verdict}",
        over=f"{job.job_id} fails no more",
    )


def _miss(record: TickRecord) -> Finding:
    tick = record.tick
    return Finding(
        key=missing_key(tick.job_id),
        job_id=tick.job_id,
        condition=Condition.MISSED,
        sounding=True,
        text=f"{tick.job_id}: the tick of {tick.scheduled_at:%Y-%m-%d %H:%M:%S} UTC was {record.verdict}",
        over=no_more_missing(tick.job_id),
    )


def no_more_missing(job_id: str) -> str:
    return f"{job_id}: no missed or lost tick is on record any more"
