"""`onebeat check module:attr`"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise

import click

from onebeat.cli.application import load_scheduler
from onebeat.cli.coming import coming_of
from onebeat.cli.lines import in_json, plain
from onebeat.clock import SystemClock
from onebeat.engine.job import Job
from onebeat.insight.forecast import MOST_INSTANTS, Forecast, TooMany, forecast
from onebeat.insight.words import instant
from onebeat.observers.records import counted
from onebeat.schedules.dues import due_after


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, of which job if of one, and what to do. A note fails no check."""

    level: str
    job_id: str | None
    what: str


@click.command("check")
@click.argument("application", metavar="MODULE:ATTR")
@click.option(
    "--most-at-once", type=click.IntRange(1), metavar="N", help="Refuse more ticks than this at one instant."
)
@click.option(
    "--days", type=click.IntRange(1, 366), default=7, show_default=True, help="How far to look ahead."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON array of findings.")
@click.pass_context
def command(
    context: click.Context, application: str, most_at_once: int | None, days: int, as_json: bool
) -> None:
    """Check a scheduler's jobs before they are deployed.

    Importing the module has refused what cannot be: two jobs of one id, wrong schedules, unknown zones.
    Beyond that: jobs that are never due, more ticks at one instant than --most-at-once; and as notes, which
    fail no check, jobs that may still run when their next tick comes.
    Exits with 1 when a problem was found.
    """
    with redirect_stdout(sys.stderr):  # what the module prints as it is imported is no part of the answer
        jobs = load_scheduler(application).jobs
    now = SystemClock().now().replace(second=0, microsecond=0)
    try:
        coming = [coming_of(job, 0.0) for job in jobs]
        ahead = forecast(coming, since=now, until=now + timedelta(days=days))
    except TooMany:
        raise click.UsageError(
            f"--days {days}: more than {MOST_INSTANTS:,} instants; look less far"
        ) from None
    found = [*problems(ahead, most_at_once), *notes(jobs, now)]
    if as_json:
        click.echo(in_json([asdict(one) for one in found]))
    else:
        for one in found:
            click.echo(plain(f"{one.level}: {one.what}", 400))
        bad = sum(one.level == "problem" for one in found)
        click.echo(f"{counted(len(jobs), 'job')}, {counted(bad, 'problem')}")
    context.exit(1 if any(one.level == "problem" for one in found) else 0)


def problems(ahead: Forecast, most_at_once: int | None) -> Iterator[Finding]:
    """What should not be deployed."""
    for job_id in ahead.never:
        yield Finding("problem", job_id, f"{job_id!r} is never due: correct its schedule, or remove it")
    if most_at_once is not None and ahead.at_once > most_at_once and ahead.at_once_at is not None:
        yield Finding(
            "problem",
            None,
            f"{ahead.at_once} ticks fall due at {instant(ahead.at_once_at)}, more than {most_at_once}: "
            "spread them, with H in the cron text (extended=True), or jitter=",
        )


def notes(jobs: Collection[Job], now: datetime) -> Iterator[Finding]:
    """What may be meant so."""
    for job in jobs:
        period, timeout = _shortest_period(job, now), job.policy.timeout
        if job.policy.overlap == "forbid" and period is not None and (timeout is None or timeout > period):
            yield Finding(
                "note",
                job.id,
                f"{job.id!r} comes every {period} and may run for {timeout or 'ever'}: ticks that come "
                "meanwhile are skipped; give it a timeout below its period",
            )


def _shortest_period(job: Job, now: datetime) -> timedelta | None:
    """Between two of the next ticks."""
    return min(
        (later - due for due, later in pairwise(islice(due_after(job.schedule, now), 20))), default=None
    )
