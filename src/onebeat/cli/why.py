"""`onebeat why [STORE] JOB TIME`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import click

from onebeat.cli.fleet_store import (
    FleetView,
    checked_app,
    fleet_options,
    fleet_store,
    read_instant,
    split_words,
)
from onebeat.cli.lines import as_json, in_json, instant, plain, span, verdict_of
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.history import END_OF_TIME, JobState, TickFilter, TickRecord
from onebeat.model import Tick, Verdict, checked_name

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
    """All that the store has to say of one tick."""

    tick: Tick
    now: datetime
    record: TickRecord | None
    job: JobState | None
    before: TickRecord | None
    after: TickRecord | None


@click.command("why")
@click.argument("words", metavar="[STORE] JOB TIME", nargs=-1)
@click.option("--json", "show_json", is_flag=True, help="One JSON object: `tick`, `nearest` and `words`.")
@fleet_options
def command(words: tuple[str, ...], show_json: bool, app: str, schema: str | None) -> None:
    """Say what became of one tick, in plain words.

    TIME is the instant it was scheduled for, with its zone (2027-03-28T09:00+02:00).

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (job_id, time) = split_words(words, 2, 2, "[STORE] JOB TIME")
    tick = Tick(checked_name("JOB", job_id), read_instant("TIME", time, SystemClock().now()))
    store = fleet_store(store_url, schema)
    known = asked(store, _gathered(store, tick, checked_app(app)))
    lines = list(explained(known))
    if show_json:
        near = [as_json(record) for record in (known.before, known.after) if record is not None]
        told = {"tick": known.record and as_json(known.record), "nearest": near, "words": lines}
        click.echo(in_json(told))
        return
    for line in lines:
        click.echo(plain(line, 400))


async def _gathered(store: FleetView, tick: Tick, app: str) -> Known:
    record = await store.tick(tick, app=app)
    before = after = None
    if record is None:
        before = await _next_to(store, TickFilter(job_id=tick.job_id, until=tick.scheduled_at), app)
        for hours in (1, 24, 24 * 7, 24 * 366):
            until = tick.scheduled_at + min(timedelta(hours=hours), END_OF_TIME - tick.scheduled_at)
            later = TickFilter(job_id=tick.job_id, since=tick.scheduled_at, until=until)
            page = await store.ticks(later, app=app, limit=1_000)
            if page.rows:
                after = page.rows[-1] if page.next is None else None
                break
    job = await store.job(tick.job_id, app=app)
    return Known(tick, await store.store_time(), record, job, before, after)


async def _next_to(store: FleetView, which: TickFilter, app: str) -> TickRecord | None:
    page = await store.ticks(which, app=app, limit=1)
    return page.rows[0] if page.rows else None


def explained(known: Known) -> Iterator[str]:
    """In sentences, the first of which is the answer."""
    if known.record is not None:
        yield from _of_record(known.record)
        return
    yield from _without_record(known)
    for record, where in ((known.before, "before"), (known.after, "after")):
        if record is not None:
            yield f"The nearest {where} it is {instant(record.tick.scheduled_at)}: {verdict_of(record)}."


def _of_record(record: TickRecord) -> Iterator[str]:
    who = f" on {record.replica}" if record.replica else ""
    attempt = f", attempt {record.attempt}" if record.attempt > 1 else ""
    yield f"{_WORDS[verdict_of(record)]}{who}{attempt}."
    if record.triggered:
        yield f"It was triggered by {record.by}: {record.reason}."
    if record.started_at is not None:
        late, took = span(record.lateness), span(record.duration)
        yield f"It began at {instant(record.started_at)}, {late} after its instant, and took {took}."
    elif record.claimed_at is not None:
        yield f"It was claimed at {instant(record.claimed_at)}."
    if record.note:
        yield f"Noted: {record.note}"
    if record.trace_id:
        yield f"Its trace is {record.trace_id}."
    if record.provisional and record.verdict not in (None, Verdict.MISSED):
        yield "Whoever claims it after all replaces that."


def _without_record(known: Known) -> Iterator[str]:
    job, tick = known.job, known.tick
    if job is None:
        yield f"No replica of this app has ever registered a job {tick.job_id!r}."
    elif tick.scheduled_at > known.now:
        yield "That is still to come."
        if job.paused_until is not None and tick.scheduled_at < job.paused_until:
            yield "As things stand it will not run: the job is paused until then, and longer."
    elif tick.scheduled_at < job.first_seen:
        yield f"The job was first registered at {instant(job.first_seen)}, after that instant."
    elif job.paused_until is not None:
        yield "Nothing is known of it: the job is paused, and was perhaps paused then."
    elif known.before is None and known.after is not None:
        yield f"Nothing is known of it: the history begins at {instant(known.after.tick.scheduled_at)}."
    elif job.watermark is not None and tick.scheduled_at < job.watermark:
        yield "There is no such tick: its schedule was not due then, or its row was pruned."
    else:
        yield "Nobody has claimed it, and no later tick of the job was claimed since."
    if job is not None and job.schedule:
        yield f"Its schedule is {job.schedule}."
