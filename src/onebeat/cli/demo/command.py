"""`onebeat demo`"""

from __future__ import annotations

import asyncio

import click

from onebeat.cli.demo.screen import Lines, Screen
from onebeat.cli.terminal import on_terminal


@click.command("demo")
@click.option(
    "--seconds",
    type=click.IntRange(min=6, max=3600),
    default=30,
    show_default=True,
    help="How long to run.",
)
@click.pass_context
def command(context: click.Context, seconds: int) -> None:
    """Watch three replicas, and one of them die.

    Three processes on one SQLite file in a temporary folder. Half-way one is killed while it runs a job.
    At the end every tick that was due is accounted for, by what the jobs themselves wrote down:

    \b
    owed     due while all three replicas were up, or should have been
    ran      its body started, on one replica
    lost     claimed by the killed replica, which never finished it
    blocked  refused while the lost run's lease lasted
    missed   none of these

    Exits with 1 if any tick started twice or was missed.
    """
    # Here, not above: they would make every command start more slowly.
    from onebeat.cli.demo.show import Show

    summary = asyncio.run(Show(seconds, _screen()).play())
    for head, ticks in (("missed", summary.missed), ("started twice", summary.twice)):
        for tick in ticks:
            click.echo(f"{head}: {tick.job_id} at {tick.scheduled_at.isoformat()}", err=True)
    click.echo(summary)
    context.exit(0 if summary.kept else 1)


def _screen() -> Screen:
    if not on_terminal():
        return Lines()
    from onebeat.cli.demo.table import LiveTable

    return LiveTable()
