"""`onebeat status [STORE]`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

import click

from onebeat.cli.fleet_store import (
    checked_app,
    fleet_options,
    fleet_store,
    split_words,
    time_option,
)
from onebeat.cli.lines import TICK_HEADINGS, as_json, in_json, plain, table, tick_cells
from onebeat.cli.targets import asked
from onebeat.history import END_OF_TIME, JobState
from onebeat.insight.upcoming import next_of
from onebeat.insight.wellness import Fleet, fleet_of
from onebeat.insight.words import instant
from onebeat.observers.records import counted

_MOST_SHOWN = 20


@click.command("status")
@click.argument("words", metavar="[STORE]", nargs=-1)
@click.option("--json", "show_json", is_flag=True, help="One JSON object, with all jobs.")
@time_option
@fleet_options
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    show_json: bool,
    shown_in: tzinfo,
    app: str,
    schema: str | None,
) -> None:
    """Say whether the fleet is well, and if not, why.

    Well: some replica lives, no job's last run failed, and the replicas agree on schedules, zone data and
    time.
    Exits with 1 if it is not.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, _ = split_words(words, 0, 0, "[STORE]")
    store = fleet_store(store_url, schema)
    fleet = asked(store, fleet_of(store, checked_app(app)))
    if show_json:
        told = {
            "well": not fleet.troubles,
            "troubles": fleet.troubles,
            "replicas": [as_json(replica) for replica in fleet.replicas],
            "jobs": [_job_as_json(job, fleet.now) for job in fleet.jobs],
            "running": [as_json(record) for record in fleet.running],
        }
        click.echo(in_json(told))
    else:
        for line in told_lines(fleet, shown_in):
            click.echo(line)
    context.exit(1 if fleet.troubles else 0)


def _job_as_json(job: JobState, now: datetime) -> dict[str, object]:
    due = next_of(job, now)
    return {**as_json(job), "next": due and due.isoformat()}


def told_lines(fleet: Fleet, shown_in: tzinfo) -> Iterator[str]:
    """The worst first."""
    state = f"not well: {'; '.join(fleet.troubles)}" if fleet.troubles else "well"
    yield plain(state, 400)
    yield (
        f"{counted(len(fleet.living), 'replica')} alive, {len(fleet.dead)} died of late;"
        f" {counted(len(fleet.jobs), 'job')}, {len(fleet.running)} running, {len(fleet.paused)} paused"
    )
    yield from _section(
        ("failing", "in a row", "last", "last success", "next"),
        [
            (
                job.job_id,
                str(job.failures),
                job.last_verdict or "-",
                instant(job.last_success_at, shown_in),
                instant(next_of(job, fleet.now), shown_in),
            )
            for job in fleet.failing
        ],
    )
    yield from _section(
        ("dead", "pid", "last beat", "declared"),
        [
            (
                replica.label,
                str(replica.pid),
                instant(replica.beat_at, shown_in),
                instant(replica.dead_at, shown_in),
            )
            for replica in fleet.dead
        ],
    )
    yield from _section(
        ("silent", "pid", "last beat"),
        [(replica.label, str(replica.pid), instant(replica.beat_at, shown_in)) for replica in fleet.silent],
    )
    yield from _section(
        ("paused", "until", "next"),
        [
            (job.job_id, _end(job, shown_in), instant(next_of(job, fleet.now), shown_in))
            for job in fleet.paused
        ],
    )
    yield from _section(
        ("never succeeded", "first seen", "next"),
        [
            (job.job_id, instant(job.first_seen, shown_in), instant(next_of(job, fleet.now), shown_in))
            for job in fleet.untried
        ],
    )
    yield from _section(TICK_HEADINGS, [tick_cells(record, shown_in) for record in fleet.running])


def _section(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table after an empty line, if there is anything to show; how many rows were left out."""
    if not rows:
        return
    yield ""
    yield from table(headings, rows[:_MOST_SHOWN])
    if len(rows) > _MOST_SHOWN:
        yield f"and {len(rows) - _MOST_SHOWN} more: --json tells all"


def _end(job: JobState, shown_in: tzinfo) -> str:
    return "it is resumed" if job.paused_until == END_OF_TIME else instant(job.paused_until, shown_in)
