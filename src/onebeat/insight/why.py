"""What became of a tick, and why, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from onebeat.history import END_OF_TIME, AuditRecord, JobState, Order, RunHistory, TickFilter, TickRecord
from onebeat.insight.pauses import pause_at
from onebeat.insight.words import instant, said, span, verdict_of
from onebeat.model import Tick, Verdict

_WORDS = {
    "ran": "It ran",
    "failed": "It failed",
    "timed_out": "It did not end within its timeout, and was cancelled",
    "cancelled": "It was cancelled",
    "lost": "It was lost: its replica died, or was cut off, in the run",
    "overlapped": "It was skipped: an earlier run of the job still went on",
    "paused": "It was skipped: the job was paused",
    "missed": "It was missed: nobody claimed it, and a later tick has gone before",
    "early": "It was refused as too early: a clock is wrong",
    "claim_error": "It was not claimed: the store could not be asked in time",
    "running": "It runs, as far as the store knows",
    "waiting": "It was triggered, and waits for a replica",
}


@dataclass(frozen=True, slots=True)
class Known:
    """All that the store has to say of one tick; `pause` is the one that covered it, if one did."""

    tick: Tick
    now: datetime
    record: TickRecord | None
    job: JobState | None
    before: TickRecord | None
    after: TickRecord | None
    pause: AuditRecord | None = None


async def known_of(history: RunHistory, tick: Tick, app: str) -> Known:
    """What *history* has to say of *tick* of *app*."""
    record = await history.tick(tick, app=app)
    job = await history.job(tick.job_id, app=app)
    before = after = pause = None
    if record is None:
        earlier = TickFilter(job_id=tick.job_id, until=tick.scheduled_at)
        later = TickFilter(job_id=tick.job_id, since=tick.scheduled_at)
        before = await _first(history, earlier, app, Order.NEWEST_FIRST)
        after = await _first(history, later, app, Order.OLDEST_FIRST)
    if record is None or record.verdict is Verdict.PAUSED:
        pause = await pause_at(history, tick, app)
    return Known(tick, await history.store_time(), record, job, before, after, pause)


async def _first(history: RunHistory, which: TickFilter, app: str, order: Order) -> TickRecord | None:
    page = await history.ticks(which, app=app, limit=1, order=order)
    return page.rows[0] if page.rows else None


def explained(known: Known, shown_in: tzinfo = UTC) -> Iterator[str]:
    """In sentences, the first of which is the answer."""
    yield from became(known, shown_in)
    if known.record is not None and known.record.note:
        yield f"Noted: {said(known.record.note)}"
    if known.record is not None and known.record.trace_id:
        yield f"Its trace is {known.record.trace_id}."


def became(known: Known, shown_in: tzinfo = UTC) -> Iterator[str]:
    """The same, but for what is noted and the trace: for whoever shows those in full."""
    if known.record is not None:
        yield from _of_record(known.record, shown_in)
    else:
        yield from _without_record(known, shown_in)
    if known.pause is not None:
        yield pause_in_words(known.pause, shown_in)
    if known.record is None and known.job is not None and known.job.schedule:
        yield f"Its schedule is {known.job.schedule}."
    for record, where in ((known.before, "before"), (known.after, "after")):
        if record is not None:
            at = instant(record.tick.scheduled_at, shown_in)
            yield f"The nearest {where} it is {at}: {verdict_of(record)}."


def _of_record(record: TickRecord, shown_in: tzinfo) -> Iterator[str]:
    who = f" on {record.replica}" if record.replica else ""
    attempt = f", attempt {record.attempt}" if record.attempt > 1 else ""
    yield f"{_WORDS[verdict_of(record)]}{who}{attempt}."
    if record.triggered:
        yield f"It was triggered by {record.by}: {record.reason}."
    if record.started_at is not None:
        at, late, took = instant(record.started_at, shown_in), span(record.lateness), span(record.duration)
        yield f"It began at {at}, {late} after its instant, and took {took}."
    elif record.claimed_at is not None:
        yield f"It was claimed at {instant(record.claimed_at, shown_in)}."
    if record.provisional and record.verdict not in (None, Verdict.MISSED):
        yield "Whoever claims it after all replaces that."


def _without_record(known: Known, shown_in: tzinfo) -> Iterator[str]:
    job, tick = known.job, known.tick
    if job is None:
        yield f"No replica of this app has ever registered a job {tick.job_id!r}."
    elif tick.scheduled_at > known.now:
        yield "That is still to come."
        if known.pause is not None:
            yield "As things stand it will not run."
    elif tick.scheduled_at < job.first_seen:
        yield f"The job was first registered at {instant(job.first_seen, shown_in)}, after that instant."
    elif known.pause is not None:
        yield "Nothing is known of it; the job was paused then, and so it did not run."
    elif known.before is None and known.after is not None:
        begin = instant(known.after.tick.scheduled_at, shown_in)
        yield f"Nothing is known of it: the history begins at {begin}."
    elif job.watermark is not None and tick.scheduled_at < job.watermark:
        yield "There is no such tick: its schedule was not due then, or its row was pruned."
    else:
        yield "Nobody has claimed it, and no later tick of the job was claimed since."


def pause_in_words(pause: AuditRecord, shown_in: tzinfo) -> str:
    """Who paused what, when, until when, and why."""
    has_end = pause.until not in (None, END_OF_TIME)
    end = f"until {instant(pause.until, shown_in)}" if has_end else "until resumed"
    return f"{pause.by} paused {pause.target} at {instant(pause.at, shown_in)}, {end}: {pause.reason}."
