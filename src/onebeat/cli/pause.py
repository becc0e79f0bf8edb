"""`onebeat pause [STORE] JOB`"""

from __future__ import annotations

from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    asking_options,
    checked_app,
    fleet_options,
    fleet_store,
    read_instant,
    time_option,
)
from onebeat.cli.lines import plain
from onebeat.cli.pausing import named_target, target_options
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.insight.words import instant


@click.command("pause")
@click.argument("words", metavar="[STORE] [JOB]", nargs=-1)
@target_options
@click.option("--until", help="When it ends by itself: an instant with its zone, or a span such as 2h.")
@asking_options
@time_option
@fleet_options
def command(
    words: tuple[str, ...],
    prefix: str | None,
    everything: bool,
    until: str | None,
    by: str,
    reason: str,
    shown_in: tzinfo,
    app: str,
    schema: str | None,
) -> None:
    """Refuse the ticks of a job, a prefix or the whole app.

    What runs goes on, and what is triggered runs. Ticks that pass meanwhile are never caught up. Asked again,
    the newer end holds.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, target = named_target(words, prefix, everything)
    end = None if until is None else read_instant("--until", until, SystemClock().now(), ahead=True)
    store = fleet_store(store_url, schema)
    name = checked_app(app)

    async def ask() -> bool:
        await store.pause(target, app=name, by=by, reason=reason, until=end)
        return target.job_id is None or await store.job(target.job_id, app=name) is not None

    is_known = asked(store, ask())
    click.echo(plain(f"paused {target}{'' if end is None else f' until {instant(end, shown_in)}'}", 400))
    if not is_known:
        click.echo("onebeat: no replica has registered it; once one does, it is paused", err=True)
