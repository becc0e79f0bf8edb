"""One replica of the demo: `python -m onebeat.cli.demo.replica FOLDER LABEL`, started by the demo."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from onebeat import Run, Scheduler
from onebeat.cli.demo.jobs import JOBS, LEASE_MARGIN, DemoJob
from onebeat.cli.demo.ledger import recorded
from onebeat.cli.demo.reports import Kind, Report
from onebeat.cli.replicas import stop_with_parent
from onebeat.clock import SystemClock
from onebeat.events import Event, RunStarted, SchedulerStarted, TickEnded
from onebeat.model import Tick

_SHUTDOWN_TIMEOUT = 4
_TTL = 10  # short: that a replica is dead, and what it lost, is to be seen before the demo ends


def serve(folder: Path, label: str) -> None:
    """Run the demo's jobs on the store in *folder* until a signal, or the parent's end."""
    stop_with_parent(patience=_SHUTDOWN_TIMEOUT + 1)
    logging.basicConfig(level=logging.ERROR, format="%(message)s")  # the rest is in the table
    scheduler = Scheduler(
        f"sqlite:///{folder / 'claims.db'}",
        app="demo",
        replica=label,
        ttl=_TTL,
        lease_margin=LEASE_MARGIN,
        shutdown_timeout=_SHUTDOWN_TIMEOUT,
        observers=[tell],
    )
    for job in JOBS:
        scheduler.add(job.id, job.schedule, body(job, folder / "ledger", label), timeout=job.timeout)
    scheduler.run()


def body(job: DemoJob, ledger: Path, label: str) -> Callable[[Run], Awaitable[None] | None]:
    """What *job* does here: an `async def` where it takes no time, a plain function where it does."""

    async def at_once(run: Run) -> None:
        with recorded(ledger, _tick(run), label):
            pass

    def for_a_while(run: Run) -> None:
        with recorded(ledger, _tick(run), label):
            run.wait(job.seconds)

    return for_a_while if job.seconds else at_once


def tell(event: Event) -> None:
    """An observer that tells the demo, through stdout."""
    if isinstance(event, SchedulerStarted):
        report = Report(Kind.READY, at=SystemClock().now())
    elif isinstance(event, RunStarted):
        report = Report(Kind.STARTED, tick=event.tick)
    elif isinstance(event, TickEnded):
        report = Report(
            Kind.ENDED,
            tick=event.tick,
            outcome=event.outcome,
            reason=event.reason or "",
            claimed_by=event.claimed_by,
        )
    else:
        return
    print(report.line(), flush=True)


def _tick(run: Run) -> Tick:
    assert run.tick is not None  # every run of the demo is a tick's
    return run.tick


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
