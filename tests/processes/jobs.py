"""The jobs of these tests, whose bodies keep the ledger, on a scheduler whose every word is noted."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

from onebeat import Run, Scheduler, SystemClock, every
from tests.processes.notes import NoteTaker
from tests.processes.orders import (
    ALLOWED,
    BLOCKING,
    ENDLESS,
    LEASE_MARGIN,
    LONG,
    PLAIN,
    PLAIN_SECONDS,
    QUICK,
    SELDOM,
    Orders,
)
from tests.processes.records import read_ledger, recorded


class WrongClock(SystemClock):
    """Leads the true time by *skew* seconds, or lags behind it."""

    def __init__(self, skew: float) -> None:
        self._skew = timedelta(seconds=skew)

    def now(self) -> datetime:
        return super().now() + self._skew


def scheduler_on(store: object, orders: Orders) -> Scheduler:
    """A scheduler with all the jobs, on *store*: the handle that *orders* ask for."""
    clock = WrongClock(orders.skew)
    scheduler = Scheduler(
        store,
        replica=orders.label,
        timeout=orders.timeout,
        ttl=orders.ttl,
        lease_margin=LEASE_MARGIN,
        claim_timeout=orders.claim_timeout,
        shutdown_timeout=10,
        clock=clock,
        observers=[NoteTaker(orders.notes, orders.label, clock)],
    )

    async def at_once(run: Run) -> None:
        with recorded(orders.ledger, run, orders.label):
            pass

    def for_a_while(run: Run) -> None:
        with recorded(orders.ledger, run, orders.label):
            run.wait(PLAIN_SECONDS)

    def until_cancelled(run: Run) -> None:
        with recorded(orders.ledger, run, orders.label):
            run.wait(orders.timeout)

    async def blocking(run: Run) -> None:
        with recorded(orders.ledger, run, orders.label):
            if sum(entry.job_id == run.job_id for entry in read_ledger(orders.ledger)) == 1:
                time.sleep(3 * orders.ttl)  # noqa: ASYNC251 the wrong that it is there for

    scheduler.cron("0 0 29 2 *", job_id=LONG, timeout=60)(until_cancelled)
    on_lost: Any = orders.on_lost
    for job_id, seconds, body in (
        (ENDLESS, 1, until_cancelled),
        (BLOCKING, 1, blocking),
        (SELDOM, 5, for_a_while),
    ):
        if job_id in orders.too:
            scheduler.add(job_id, every(seconds), body, on_lost=on_lost)
    for number in range(orders.crowd):
        scheduler.add(f"crowd {number:03}", every(2), at_once)
    scheduler.every(1, job_id=QUICK, on_lost=on_lost)(at_once)
    scheduler.every(1, job_id=PLAIN, on_lost=on_lost)(for_a_while)
    scheduler.every(1, job_id=ALLOWED, overlap="allow", on_lost=on_lost)(at_once)
    return scheduler
