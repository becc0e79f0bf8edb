"""`onebeat replicas [STORE]`"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

import click

from onebeat.cli.fleet_store import checked_app, fleet_options, fleet_store, split_words, time_option
from onebeat.cli.lines import as_json, in_json, plain, table
from onebeat.cli.targets import asked
from onebeat.drift import disagreements
from onebeat.history import ReplicaState
from onebeat.insight.words import instant, span

_HEADINGS = ("replica", "pid", "since", "last beat", "skew", "jobs", "version")


@click.command("replicas")
@click.argument("words", metavar="[STORE]", nargs=-1)
@click.option("--json", "show_json", is_flag=True, help="One JSON object: `replicas` and `disagreements`.")
@time_option
@fleet_options
def command(words: tuple[str, ...], show_json: bool, shown_in: tzinfo, app: str, schema: str | None) -> None:
    """List the replicas: the living, the dead of late, and what they disagree about.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, _ = split_words(words, 0, 0, "[STORE]")
    store = fleet_store(store_url, schema)
    name = checked_app(app)

    async def ask() -> tuple[Sequence[ReplicaState], datetime]:
        return await store.replicas(app=name), await store.store_time()

    replicas, now = asked(store, ask())
    found = [str(one) for one in disagreements(replicas, now=now)]
    if show_json:
        told = {"replicas": [as_json(replica) for replica in replicas], "disagreements": found}
        click.echo(in_json(told))
        return
    for line in table(_HEADINGS, (cells(replica, now, shown_in) for replica in replicas)):
        click.echo(line)
    for text in found:
        click.echo(plain(text, 400))


def cells(replica: ReplicaState, now: datetime, shown_in: tzinfo) -> list[str]:
    """Under the headings; of one that left or is dead since when."""
    beat = span((now - replica.beat_at).total_seconds()) + " ago"
    if replica.left:
        beat = f"left {beat}"
    elif replica.dead_at is not None:
        beat = f"dead {span((now - replica.dead_at).total_seconds())}"
    since = instant(replica.started_at, shown_in)
    lead, jobs = f"{replica.skew:+.2f}s", str(len(replica.jobs))
    return [replica.label, str(replica.pid), since, beat, lead, jobs, replica.version]
