"""`onebeat demo`"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

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
@click.option("--ui", is_flag=True, help="Show the dashboard over them, at an address of this machine.")
@click.option("--open", "opened", is_flag=True, help="Open it in a browser, too.")
@click.pass_context
def command(context: click.Context, seconds: int, ui: bool, opened: bool) -> None:
    """Watch three replicas, and one of them die.

    Three processes on one SQLite file in a temporary folder. Half-way one is killed while it runs a job.
    At the end every tick that was due is accounted for, by what the jobs themselves wrote down:

    \b
    owed     due while all three replicas were up, or should have been
    ran      its body started, on one replica
    lost     claimed by the killed replica, which never finished it
    blocked  refused while the lost run's lease lasted
    missed   none of these

    With --ui the dashboard, read-only, is shown over them as long as they run.

    Exits with 1 if any tick started twice or was missed.
    """
    # Here, not above: they would make every command start more slowly.
    from onebeat.cli.demo.show import Show

    dashboard = ["--open"] if opened else [] if ui else None
    if dashboard is not None and not find_spec("starlette"):
        raise click.ClickException("the dashboard needs the extra `ui`: pip install 'onebeat[ui]'")
    summary = asyncio.run(Show(seconds, _screen(), dashboard=dashboard).play())
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
