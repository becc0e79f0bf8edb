"""`onebeat jobs module:attr`"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import click

from onebeat.cli.application import load_scheduler
from onebeat.cli.terminal import on_terminal
from onebeat.clock import SystemClock
from onebeat.engine.job import Job
from onebeat.insight.words import written_in
from onebeat.schedules.explain import describe
from onebeat.schedules.local import zone
from onebeat.schedules.timetable import Timetable


@dataclass(frozen=True, slots=True)
class Row:
    """What there is to say of a job; durations in seconds, `next` in the job's zone."""

    id: str
    schedule: str
    zone: str
    next: str | None
    timeout: float | None
    lease: float | None
    overlap: str
    late: float | None
    on_every_replica: bool

    @property
    def policy(self) -> str:
        """In words, what it does not say left out."""
        bounds = (("timeout", self.timeout), ("lease", self.lease), ("late", self.late))
        words = [f"{name} {in_units(seconds)}" for name, seconds in bounds if seconds is not None]
        overlap = "on every replica" if self.on_every_replica else f"overlap {self.overlap}"
        return ", ".join([*words, overlap])


@click.command("jobs")
@click.argument("application", metavar="MODULE:ATTR")
@click.option("--json", "as_json", is_flag=True, help="One JSON array of objects, durations in seconds.")
def command(application: str, as_json: bool) -> None:
    """List the jobs of a scheduler.

    Each with its schedule in words, its zone, its next tick and its policy. The module is imported with the
    current folder on sys.path; nothing is run. A table on a terminal, into a pipe one line a job: the id,
    schedule, zone, next tick and policy, with tabs between.
    """
    now = SystemClock().now()
    with redirect_stdout(sys.stderr):  # what the module prints as it is imported is no part of the list
        scheduler = load_scheduler(application)
    rows = [row_of(job, now) for job in scheduler.jobs]
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    elif on_terminal():
        _draw(rows)
    else:
        for row in rows:
            click.echo("\t".join((row.id, row.schedule, row.zone, row.next or "never", row.policy)))


def row_of(job: Job, now: datetime) -> Row:
    """The row of *job* as things stand at *now*."""
    policy = job.policy
    zone_name = job.schedule.tz if isinstance(job.schedule, Timetable) else "UTC"
    due = job.schedule.next_after(now)
    return Row(
        id=job.id,
        schedule=describe(job.schedule).removesuffix("."),
        zone=zone_name,
        next=written_in(zone(zone_name), due).isoformat() if due else None,
        timeout=_seconds(policy.timeout),
        lease=None if policy.on_every_replica else _seconds(policy.claim_lease),
        overlap=policy.overlap,
        late=_seconds(policy.late),
        on_every_replica=policy.on_every_replica,
    )


def in_units(seconds: float) -> str:
    """3661.5 is 1h1m1.5s."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = (f"{hours}h" * bool(hours), f"{minutes}m" * bool(minutes), f"{rest:g}s" * bool(rest))
    return "".join(parts)


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()


def _draw(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("job", "schedule", "zone", "next tick", "policy")
    for row in rows:
        cells = (row.id, row.schedule, row.zone, row.next or "never", row.policy)
        table.add_row(*map(Text, cells))
    Console().print(table)
