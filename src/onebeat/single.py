"""One job, without a scheduler to set up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onebeat.engine.body import Work
from onebeat.engine.job import Duration
from onebeat.errors import InvalidJob
from onebeat.schedule import Schedule
from onebeat.scheduler import Scheduler

if TYPE_CHECKING:
    import logging

    from opentelemetry.metrics import Meter


async def run(
    work: Work,
    *,
    name: str,
    schedule: Schedule | str,
    store: object = None,
    on_every_replica: bool = False,
    claim_timeout: Duration = 10,
    timeout: Duration | None = 3600,
    shutdown_timeout: Duration = 60,
    replica: str | None = None,
    logger: logging.Logger | None = None,
    meter: Meter | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Run *work* as the only job, named *name*, until SIGINT, SIGTERM or *stop* is set; then return None.

    Cancelled, it stops in the same order and lets the cancellation go on. A missing name, a bad schedule
    or setting raises before the first tick (OnebeatError); nothing that happens later does. See Scheduler
    for the settings.
    """
    if not name:
        raise InvalidJob("name", name, "the job's name", "every replica must give the same")
    scheduler = Scheduler(
        store,
        replica=replica,
        claim_timeout=claim_timeout,
        timeout=timeout,
        shutdown_timeout=shutdown_timeout,
        logger=logger,
        meter=meter,
    )
    scheduler.add(name, schedule, work, on_every_replica=on_every_replica)
    watching = asyncio.ensure_future(_stop_with(stop, scheduler)) if stop is not None else None
    try:
        await scheduler.serve_until_signal()
    finally:
        if watching is not None:
            watching.cancel()


async def _stop_with(stop: asyncio.Event, scheduler: Scheduler) -> None:
    await stop.wait()
    scheduler.stop()
