"""`onebeat why [STORE] JOB TIME`"""

from __future__ import annotations

from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    checked_app,
    fleet_options,
    fleet_store,
    read_instant,
    split_words,
    time_option,
)
from onebeat.cli.lines import as_json, in_json, plain
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.insight.why import explained, known_of
from onebeat.insight.words import traced
from onebeat.model import Tick, checked_name


@click.command("why")
@click.argument("words", metavar="[STORE] JOB TIME", nargs=-1)
@click.option(
    "--json", "show_json", is_flag=True, help="One JSON object: `tick`, `nearest`, `pause` and `words`."
)
@time_option
@fleet_options
def command(words: tuple[str, ...], show_json: bool, shown_in: tzinfo, app: str, schema: str | None) -> None:
    """Say what became of one tick, in plain words.

    TIME is the instant it was scheduled for, with its zone (2027-03-28T09:00+02:00).

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, (job_id, time) = split_words(words, 2, 2, "[STORE] JOB TIME")
    tick = Tick(checked_name("JOB", job_id), read_instant("TIME", time, SystemClock().now()))
    store = fleet_store(store_url, schema)
    known = asked(store, known_of(store, tick, checked_app(app)))
    lines = list(explained(known, shown_in))
    if show_json:
        near = [as_json(record) for record in (known.before, known.after) if record is not None]
        told = {
            "tick": known.record and as_json(known.record),
            "nearest": near,
            "pause": known.pause and as_json(known.pause),
            "words": lines,
        }
        click.echo(in_json(told))
        return
    note = known.record.note if known.record is not None else None
    for line in (*lines, *traced(note or "").splitlines()):
        click.echo(plain(line, 400))
