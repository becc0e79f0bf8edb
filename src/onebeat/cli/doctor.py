"""`onebeat doctor [STORE]`"""

from __future__ import annotations

import textwrap
from dataclasses import asdict

import click

from onebeat.cli.fleet_store import checked_app, fleet_options, fleet_store, split_words
from onebeat.cli.lines import WIDTH, in_json, plain
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.doctor import Finding, Level
from onebeat.insight.examined import examined

_LONGEST = 2_000


@click.command("doctor")
@click.argument("words", metavar="[STORE]", nargs=-1)
@click.option("--json", "show_json", is_flag=True, help="One JSON array of findings.")
@fleet_options
@click.pass_context
def command(
    context: click.Context, words: tuple[str, ...], show_json: bool, app: str, schema: str | None
) -> None:
    """Look at a store and its fleet, and say what to do.

    Of PostgreSQL: version, tables and privileges, isolation, durability, a pooler in between, replication,
    clocks and vacuum; of SQLite: the file and where it lies; of both: whether the replicas agree, jobs
    claimed in the future, and how far the history reaches back. Changes nothing.
    Exits with 1 when there is an error.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, _ = split_words(words, 0, 0, "[STORE]")
    store = fleet_store(store_url, schema)
    found = asked(store, examined(store, checked_app(app), here=SystemClock().now()))
    if show_json:
        click.echo(in_json([asdict(one) for one in found]))
    else:
        for one in found:
            click.echo(_shown(one))
    context.exit(1 if any(one.level is Level.ERROR for one in found) else 0)


def _shown(finding: Finding) -> str:
    """The level before it, what to do below it, in lines that fit."""
    lines = _wrapped(f"{finding.level:9}{finding.subject}: {finding.found}")
    return "\n".join([*lines, *(_wrapped(f"{'':9}-> {finding.advice}") if finding.advice else [])])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(plain(text, _LONGEST), WIDTH, subsequent_indent=" " * 12, break_on_hyphens=False)
