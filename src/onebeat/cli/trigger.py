"""`onebeat trigger [STORE] JOB`"""

from __future__ import annotations

from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    FleetView,
    asking_options,
    checked_app,
    fleet_options,
    fleet_store,
    split_words,
    time_option,
)
from onebeat.cli.lines import plain
from onebeat.cli.targets import asked
from onebeat.clock import Clock, SystemClock
from onebeat.errors import ClaimFailed
from onebeat.history import TickRecord
from onebeat.insight.wellness import lives
from onebeat.insight.words import instant, said, span, verdict_of
from onebeat.model import Tick, Verdict, checked_name

_LOOK = 0.5  # seconds between looks at a verdict that is waited for


@click.command("trigger")
@click.argument("words", metavar="[STORE] JOB", nargs=-1)
@click.option("--force", is_flag=True, help="Also while the job runs on another replica.")
@click.option("--wait", is_flag=True, help="Wait for the verdict; exit with 1 unless it ran.")
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=3_600,
    show_default=True,
    help="How long to --wait at most; then exit with 1.",
)
@asking_options
@time_option
@fleet_options
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    force: bool,
    wait: bool,
    seconds: int,
    by: str,
    reason: str,
    shown_in: tzinfo,
    app: str,
    schema: str | None,
) -> None:
    """Have a job run once, now, on one of its replicas.

    It waits while the job runs, unless --force; a pause does not hold it up, and the job's own ticks come as
    they would have. It starts at once where PostgreSQL can tell the replicas, else with their next beat.
    Where no living replica has the job, it starts when one comes, which is said; with --wait it is refused.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (word,) = split_words(words, 1, 1, "[STORE] JOB")
    job_id, name = checked_name("JOB", word), checked_app(app)
    store = fleet_store(store_url, schema)

    async def ask() -> TickRecord | None:
        absence = await nobody(store, job_id, name)
        if absence and wait:
            raise click.ClickException(f"{absence}: nobody to wait for, so nothing was triggered")
        tick = await store.trigger(job_id, app=name, by=by, reason=reason, force=force)
        click.echo(plain(f"triggered {job_id}, {instant(tick.scheduled_at, shown_in)}", 400))
        if absence:
            click.echo(f"onebeat: {absence}: it starts when one comes", err=True)
        return await ended(store, tick, name, seconds, SystemClock()) if wait else None

    record = asked(store, ask())
    if wait:
        click.echo(plain(what_came(record, seconds), 400))
        context.exit(0 if record is not None and record.verdict is Verdict.RAN else 1)


async def nobody(store: FleetView, job_id: str, app: str) -> str | None:
    """Why nobody will take up the job's trigger for now; None where somebody may, or for an unknown job."""
    if await store.job(job_id, app=app) is None:
        return None
    now = await store.store_time()
    living = [replica for replica in await store.replicas(app=app) if lives(replica, now)]
    if not living:
        return "no replica lives"
    return None if any(job_id in replica.jobs for replica in living) else "no living replica has the job"


async def ended(store: FleetView, tick: Tick, app: str, seconds: float, clock: Clock) -> TickRecord | None:
    """Its row once it has a final verdict, or as it stands after *seconds*; None when it was pruned before.

    A store that does not answer is asked again until then.
    """
    ends_at = clock.monotonic() + seconds
    while True:
        is_over = clock.monotonic() >= ends_at
        try:
            record = await store.tick(tick, app=app)
        except ClaimFailed:
            if is_over:
                raise
        else:
            if is_over or record is None or (record.verdict is not None and not record.provisional):
                return record
        await clock.sleep(_LOOK)


def what_came(record: TickRecord | None, seconds: float) -> str:
    """Of a tick that was waited for."""
    if record is None:
        return "its row is gone"
    if record.verdict is None:
        if verdict_of(record) == "running":
            return f"still running on {record.replica} after {span(seconds)}"
        return f"nobody has taken it up within {span(seconds)}; it still waits"
    where = f" on {record.replica}" if record.replica else ""
    took = "" if record.duration is None else f" in {span(record.duration)}"
    return f"{record.verdict}{where}{took}{f': {said(record.note)}' if record.note else ''}"
