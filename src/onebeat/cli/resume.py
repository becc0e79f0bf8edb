"""`onebeat resume [STORE] JOB`"""

from __future__ import annotations

import click

from onebeat.cli.fleet_store import asking_options, checked_app, fleet_options, fleet_store
from onebeat.cli.lines import plain
from onebeat.cli.pausing import named_target, target_options
from onebeat.cli.targets import asked


@click.command("resume")
@click.argument("words", metavar="[STORE] [JOB]", nargs=-1)
@target_options
@asking_options
@fleet_options
def command(
    words: tuple[str, ...],
    prefix: str | None,
    everything: bool,
    by: str,
    reason: str,
    app: str,
    schema: str | None,
) -> None:
    """End a pause.

    Of exactly what was paused: a job that its prefix or its app pauses too stays paused.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, target = named_target(words, prefix, everything)
    store = fleet_store(store_url, schema)
    ended = asked(store, store.resume(target, app=checked_app(app), by=by, reason=reason))
    click.echo(plain(f"resumed {target}" if ended else f"{target}: was not paused", 400))
