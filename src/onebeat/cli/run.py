"""`onebeat run module:attr`"""

from __future__ import annotations

import asyncio
import logging

import click

from onebeat.cli.application import load_scheduler
from onebeat.cli.replicas import stop_with_parent


@click.command("run")
@click.argument("application", metavar="MODULE:ATTR")
@click.option(
    "--replicas",
    type=click.IntRange(min=1, max=100),
    default=1,
    show_default=True,
    help="How many local processes to run, for development.",
)
@click.option("--replica-of-parent", "label", hidden=True, help="Set by a run with several replicas.")
@click.pass_context
def command(context: click.Context, application: str, replicas: int, label: str | None) -> None:
    """Run a scheduler until SIGINT or SIGTERM.

    The module is imported with the current folder on sys.path. One replica runs in this process. With
    --replicas N there are N processes; what they print is prefixed with the replica's label, signals are
    passed on, none is restarted, and the exit code is 1 if one of them died.
    """
    scheduler = load_scheduler(application)
    # A program that has set up logging before keeps it as it is.
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if replicas == 1:
        if label:
            stop_with_parent()
        scheduler.run()
        return
    from onebeat.cli.supervise import supervise

    context.exit(asyncio.run(supervise(application, replicas)))
