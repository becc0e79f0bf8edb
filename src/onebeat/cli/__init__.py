"""The command line: one file a command. Here, and only here, errors become exit codes.

0: done. 1: what was asked went wrong. 2: what was asked makes no sense. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

from onebeat.cli.commands import commands
from onebeat.errors import InvalidJob, InvalidSchedule, InvalidSetting, OnebeatError

_WRONG_INPUT = (InvalidSchedule, InvalidJob, InvalidSetting)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. An error is one line on stderr, never a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an id that a terminal cannot show is shown in part
    try:
        code = commands.main(arguments, prog_name="onebeat", standalone_mode=False)
    except click.ClickException as error:
        return _told(error.format_message(), error.exit_code)
    except _WRONG_INPUT as error:
        return _told(str(error), 2)
    except OnebeatError as error:
        return _told(str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except OSError as error:  # a full disk, no folder for temporary files
        _drop_output()
        return _told(str(error), 1)
    return code if isinstance(code, int) else 0


def _told(message: str, code: int) -> int:
    click.echo("onebeat: " + " ".join(message.split()), err=True)
    return code


def _drop_output() -> None:
    """What could not be written would fail once more, and with a traceback, as the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
