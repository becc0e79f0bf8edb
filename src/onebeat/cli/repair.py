"""`onebeat repair [STORE] JOB`"""

from __future__ import annotations

import click

from onebeat.cli.fleet_store import split_words
from onebeat.cli.targets import asked, named_store, opened
from onebeat.model import checked_name


@click.command("repair")
@click.argument("words", metavar="[STORE] JOB", nargs=-1)
@click.option("--app", default="default", show_default=True, help="The app whose job it is.")
@click.option("--schema", help="Where the tables are (PostgreSQL; default: the first of the search path).")
def command(words: tuple[str, ...], app: str, schema: str | None) -> None:
    """Free a job that was claimed far ahead.

    A clock that was wrong may have claimed a tick far ahead; until that instant every other tick of the job
    is refused. This takes the job back to the newest tick that has come. Set the clock right first. Ticks
    once won stay won: none runs twice.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (name,) = split_words(words, 1, 1, "[STORE] JOB")
    job_id = checked_name("JOB", name)
    store = opened(named_store(store_url), schema)
    repaired = asked(store, store.repair(app=checked_name("--app", app), job_id=job_id))
    found = "taken back to the newest tick that has come" if repaired else "nothing to repair"
    click.echo(f"{job_id} (app {app}): {found}")
