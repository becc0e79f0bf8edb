"""`onebeat simulate module:attr`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import timedelta

import click

from onebeat.cli.application import load_scheduler
from onebeat.cli.coming import coming_of
from onebeat.cli.lines import as_json, in_json, plain
from onebeat.cli.shares import shares_of
from onebeat.clock import SystemClock
from onebeat.insight.forecast import MOST_INSTANTS, Forecast, TooMany, forecast
from onebeat.insight.words import instant


@click.command("simulate")
@click.argument("application", metavar="MODULE:ATTR")
@click.option(
    "--replicas", type=click.IntRange(1, 100), default=3, show_default=True, help="How many share the jobs."
)
@click.option(
    "--days", type=click.IntRange(1, 3660), default=7, show_default=True, help="How far to look ahead."
)
@click.option(
    "--duration", "given", multiple=True, metavar="JOB=SECONDS", help="How long a body takes; repeatable."
)
@click.option(
    "--usual", type=click.FloatRange(0), default=0.0, show_default=True, help="Seconds that the others take."
)
@click.option("--json", "show_json", is_flag=True, help="One JSON object.")
def command(
    application: str, replicas: int, days: int, given: tuple[str, ...], usual: float, show_json: bool
) -> None:
    """See the load that jobs will bring, in virtual time.

    How many ticks there are and in which minutes most of them; how many fall due at one instant, and how
    many runs go on together; which ticks come while the run before still goes on; how replicas would share
    them; and on which days the clocks surprise a job. The module is imported; nothing is run.
    """
    with redirect_stdout(sys.stderr):  # what the module prints as it is imported is no part of the answer
        jobs = load_scheduler(application).jobs
    since = SystemClock().now().replace(second=0, microsecond=0)
    durations = dict(_duration(text) for text in given)
    unknown = durations.keys() - {job.id for job in jobs}
    if unknown:
        raise click.UsageError(f"--duration: no job {', '.join(sorted(map(repr, unknown)))}")
    until = since + timedelta(days=days)
    coming = [coming_of(job, durations.get(job.id, usual)) for job in jobs]
    try:
        found = forecast(coming, since=since, until=until)
    except TooMany:
        raise click.UsageError(
            f"--days {days}: more than {MOST_INSTANTS:,} instants; look less far"
        ) from None
    shares = shares_of(jobs, since=since, until=until, replicas=replicas)
    if show_json:
        click.echo(in_json({**as_json(found), "shares": shares}))
    else:
        for line in _told(found, shares):
            click.echo(plain(line, 400))


def _duration(text: str) -> tuple[str, float]:
    job_id, found, seconds = text.rpartition("=")
    try:
        if found and float(seconds) >= 0:
            return job_id, float(seconds)
    except ValueError:
        pass
    raise click.UsageError(f"--duration {text!r}: expected JOB=SECONDS")


def _told(found: Forecast, shares: Sequence[float]) -> Sequence[str]:
    lines = [f"{found.ticks:,} ticks from {instant(found.since)} to {instant(found.until)}"]
    if found.at_once_at is not None:
        lines.append(f"most at one instant: {found.at_once:,}, at {instant(found.at_once_at)}")
    lines.append(f"instants with more than one: {found.collisions:,}")
    if found.together:
        lines.append(f"most runs together: {found.together:,}")
    lines.append(f"shares of {len(shares)} replicas: {', '.join(f'{share:.1%}' for share in shares)}")
    lines += [
        f"busy minute {instant(minute.at)}: {minute.ticks:,} ticks ({_some(minute.jobs)})"
        for minute in found.busiest
    ]
    lines += [f"never due: {plain(job_id, 40)}" for job_id in found.never]
    lines += [
        f"overlap: {count:,} ticks of {plain(job_id, 40)} come while the run before goes on"
        for job_id, count in sorted(found.skipped.items(), key=lambda item: -item[1])
    ]
    lines += [
        f"clocks: {plain(job_id, 40)}: {text}" for job_id, texts in found.surprises.items() for text in texts
    ]
    return lines


def _some(job_ids: Sequence[str]) -> str:
    shown = [plain(job_id, 40) for job_id in job_ids[:3]]
    return ", ".join([*shown, "…"] if len(job_ids) > 3 else shown)
