"""`onebeat status [STORE]`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    FleetView,
    checked_app,
    fleet_options,
    fleet_store,
    split_words,
    time_option,
)
from onebeat.cli.lines import TICK_HEADINGS, as_json, in_json, instant, plain, table, tick_cells
from onebeat.cli.targets import asked
from onebeat.cli.wellness import Fleet
from onebeat.history import END_OF_TIME, MOST_ROWS, OF_LATE, JobState, TickFilter

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
    fleet = asked(store, gathered(store, checked_app(app)))
    if show_json:
        told = {
            "well": not fleet.troubles,
            "troubles": fleet.troubles,
            "replicas": [as_json(replica) for replica in fleet.replicas],
            "jobs": [as_json(job) for job in fleet.jobs],
            "running": [as_json(record) for record in fleet.running],
        }
        click.echo(in_json(told))
    else:
        for line in told_lines(fleet, shown_in):
            click.echo(line)
    context.exit(1 if fleet.troubles else 0)


async def gathered(store: FleetView, app: str) -> Fleet:
    """The fleet as it stands: all its jobs, however many."""
    jobs: list[JobState] = []
    after = None
    while True:
        page = await store.jobs(app=app, limit=MOST_ROWS, after=after)
        jobs += page.rows
        after = page.next
        if after is None:
            break
    now = await store.store_time()
    # Without a bound the store would look through the whole history. What holds its job is no older than the
    # job's watermark; of jobs that may overlap, which hold nothing, a day is looked through.
    since = min([now - OF_LATE, *(job.watermark for job in jobs if job.holder and job.watermark)])
    running = await store.ticks(TickFilter(running=True, since=since), app=app, limit=MOST_ROWS)
    return Fleet(now, tuple(await store.replicas(app=app)), tuple(jobs), running.rows)


def told_lines(fleet: Fleet, shown_in: tzinfo) -> Iterator[str]:
    """The worst first."""
    state = f"not well: {'; '.join(fleet.troubles)}" if fleet.troubles else "well"
    yield plain(state, 400)
    yield (
        f"{len(fleet.living)} replicas live, {len(fleet.dead)} died of late; {len(fleet.jobs)} jobs,"
        f" {len(fleet.running)} running, {len(fleet.paused)} paused"
    )
    yield from _section(
        ("failing", "in a row", "last", "last success"),
        [
            (job.job_id, str(job.failures), job.last_verdict or "-", instant(job.last_success_at, shown_in))
            for job in fleet.failing
        ],
    )
    yield from _section(
        ("dead", "last beat", "declared"),
        [
            (replica.label, instant(replica.beat_at, shown_in), instant(replica.dead_at, shown_in))
            for replica in fleet.dead
        ],
    )
    yield from _section(
        ("silent", "last beat"),
        [(replica.label, instant(replica.beat_at, shown_in)) for replica in fleet.silent],
    )
    yield from _section(("paused", "until"), [(job.job_id, _end(job, shown_in)) for job in fleet.paused])
    yield from _section(
        ("never succeeded", "first seen"),
        [(job.job_id, instant(job.first_seen, shown_in)) for job in fleet.untried],
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
    return "resumed" if job.paused_until == END_OF_TIME else instant(job.paused_until, shown_in)
