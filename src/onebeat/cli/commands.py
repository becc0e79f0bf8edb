"""The commands by name; the file of a command is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

import click

_FILES = {
    "cancel": "onebeat.cli.cancel",
    "check": "onebeat.cli.check",
    "demo": "onebeat.cli.demo.command",
    "doctor": "onebeat.cli.doctor",
    "explain": "onebeat.cli.explain",
    "history": "onebeat.cli.history",
    "jobs": "onebeat.cli.jobs",
    "migrate": "onebeat.cli.migrate",
    "next": "onebeat.cli.next",
    "pause": "onebeat.cli.pause",
    "repair": "onebeat.cli.repair",
    "replicas": "onebeat.cli.fleet_replicas",
    "resume": "onebeat.cli.resume",
    "run": "onebeat.cli.run",
    "simulate": "onebeat.cli.simulate",
    "status": "onebeat.cli.status",
    "trigger": "onebeat.cli.trigger",
    "ui": "onebeat.cli.ui",
    "watch": "onebeat.cli.watch",
    "why": "onebeat.cli.why",
}


class _Commands(click.Group):
    """Each file in _FILES holds its command under the name `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_FILES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _FILES:
            return None
        command: click.Command = import_module(_FILES[cmd_name]).command
        return command


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # slow to import, and rarely asked for

        click.echo(f"onebeat {version('onebeat')}")
        context.exit()


@click.group(
    cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
@click.pass_context
def commands(context: click.Context) -> None:
    """Recurring jobs inside replicated Python services: every tick fires on exactly one replica."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
