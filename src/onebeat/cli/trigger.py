"""`onebeat trigger [STORE] JOB`"""

from __future__ import annotations

import click

from onebeat.cli.fleet_store import (
    FleetView,
    asking_options,
    checked_app,
    fleet_options,
    fleet_store,
    split_words,
)
from onebeat.cli.lines import instant, plain, span
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.history import TickRecord
from onebeat.model import Tick, Verdict

_LOOK = 0.5  # seconds between looks at a verdict that is waited for


@click.command("trigger")
@click.argument("words", metavar="[STORE] JOB", nargs=-1)
@click.option("--force", is_flag=True, help="Also while the job runs on another replica.")
@click.option("--wait", is_flag=True, help="Wait for the verdict; exit with 1 unless it ran.")
@asking_options
@fleet_options
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    force: bool,
    wait: bool,
    by: str,
    reason: str,
    app: str,
    schema: str | None,
) -> None:
    """Have a job run once, now, on one of its replicas.

    It waits while the job runs, unless --force; a pause does not hold it up, and the job's own ticks come as
    they would have. It starts at once where PostgreSQL can tell the replicas, else with their next beat.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (job_id,) = split_words(words, 1, 1, "[STORE] JOB")
    store = fleet_store(store_url, schema)
    name = checked_app(app)

    async def ask() -> tuple[Tick, TickRecord | None]:
        tick = await store.trigger(job_id, app=name, by=by, reason=reason, force=force)
        return tick, await _ended(store, tick, name) if wait else None

    tick, record = asked(store, ask())
    click.echo(f"triggered {plain(job_id)}, {instant(tick.scheduled_at)}")
    if wait:
        ran = record is not None and record.verdict is Verdict.RAN
        told = "its row is gone" if record is None else f"{record.verdict} on {record.replica}"
        took = "" if record is None or record.duration is None else f" in {span(record.duration)}"
        click.echo(plain(f"{told}{took}{f': {record.note}' if record and record.note else ''}"))
        context.exit(0 if ran else 1)


async def _ended(store: FleetView, tick: Tick, app: str) -> TickRecord | None:
    """Its row once it has a final verdict; None when it was pruned before."""
    clock = SystemClock()
    while (record := await store.tick(tick, app=app)) is not None:
        if record.verdict is not None and not record.provisional:
            return record
        await clock.sleep(_LOOK)
    return None
