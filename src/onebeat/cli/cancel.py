"""`onebeat cancel [STORE] JOB`"""

from __future__ import annotations

from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    asking_options,
    checked_app,
    fleet_options,
    fleet_store,
    read_instant,
    split_words,
    time_option,
)
from onebeat.cli.lines import plain
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.insight.words import instant


@click.command("cancel")
@click.argument("words", metavar="[STORE] JOB", nargs=-1)
@click.option("--at", help="Only the run of the tick scheduled then: an instant with its zone.")
@asking_options
@time_option
@fleet_options
def command(
    words: tuple[str, ...],
    at: str | None,
    by: str,
    reason: str,
    shown_in: tzinfo,
    app: str,
    schema: str | None,
) -> None:
    """Cancel what runs of a job, wherever that is.

    A run is told with the next beat of its replica, at once where PostgreSQL can tell. A trigger that nobody
    has taken up yet is withdrawn.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (job_id,) = split_words(words, 1, 1, "[STORE] JOB")
    moment = None if at is None else read_instant("--at", at, SystemClock().now())
    store = fleet_store(store_url, schema)
    asking = store.cancel(job_id, app=checked_app(app), by=by, reason=reason, scheduled_at=moment)
    ticks = asked(store, asking)
    for tick in ticks:
        click.echo(f"asked to cancel {plain(job_id)} of {instant(tick.scheduled_at, shown_in)}")
    if not ticks:
        click.echo(f"{plain(job_id)}: nothing runs")
