"""What `next` and `explain` ask for alike: an expression, its zone, and the moment to look from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import click

from onebeat.clock import SystemClock
from onebeat.schedule import Schedule, for_job
from onebeat.schedules.cron import Cron, cron
from onebeat.schedules.local import zone, zone_name

_Command = Callable[..., Any]

_PARAMETERS = (
    click.argument("expression", metavar="EXPR"),
    click.option("--tz", default="UTC", show_default=True, help='An IANA zone, or "local".'),
    click.option(
        "--from",
        "moment",
        metavar="INSTANT",
        help="Look from here (default: now): ISO 8601, without an offset in the schedule's zone.",
    ),
    click.option("--extended", is_flag=True, help="Also read 7 for Sunday, L, W, #, H and ranges that wrap."),
    click.option("--job", "job_id", metavar="ID", help="The job whose id H is drawn from."),
    click.option("--seconds", is_flag=True, help="Read six fields, seconds first."),
)


def expression_parameters(function: _Command) -> _Command:
    """Give a command EXPR and the options that say how to read it."""
    for parameter in reversed(_PARAMETERS):
        function = parameter(function)
    return function


def read_expression(
    expression: str, tz: str, extended: bool, seconds: bool, job_id: str | None
) -> tuple[Schedule, ZoneInfo]:
    """The schedule, and the zone to show its instants in. Raises InvalidSchedule."""
    schedule: Schedule = cron(expression, tz=tz, extended=extended, seconds=seconds)
    if job_id is not None:
        schedule = for_job(schedule, job_id)
    return schedule, zone(schedule.tz if isinstance(schedule, Cron) else zone_name(tz))


def read_moment(typed: str | None, shown_in: ZoneInfo) -> datetime:
    """The instant that was typed, as wall time in *shown_in* if it has no offset; now if none was."""
    if typed is None:
        return SystemClock().now()
    try:
        moment = datetime.fromisoformat(typed)
    except ValueError:
        raise click.UsageError(f"--from: expected ISO 8601 such as 2027-03-28T01:30, got {typed!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=shown_in)
