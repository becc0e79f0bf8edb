"""One replica's one run of a transactional tick, in a process of its own, which somebody may kill."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from onebeat import Run, Scheduler
from onebeat.model import Outcome, Release, Verdict
from tests.stores.postgres.given import TICK, replica
from tests.stores.postgres.transacted import Handle, Transacted, handle_on, told


@dataclass(frozen=True, slots=True)
class Case:
    """A handle, the kind of body it is for, and what is to become of the tick when its replica dies."""

    kind: str
    to_async: bool
    rerun: bool

    def __str__(self) -> str:
        return f"{self.kind}, {'async' if self.to_async else 'plain'}, {'rerun' if self.rerun else 'skip'}"

    @asynccontextmanager
    async def on(self, database: str) -> AsyncIterator[Handle]:
        async with handle_on(database, self.kind, to_async=self.to_async) as handle:
            yield handle


def body_of(handle: Handle) -> Callable[[Run], Any]:
    """Two statements that belong together."""
    return handle.writing(lambda run: handle.do(run.connection, "UPDATE effects SET fence = fence + 1"))


async def run_once(handle: Handle, *, rerun: bool, attempt: int = 1, by: str = "a") -> bool:
    """Bid for the tick, and if it is won, run it and release it; whether it was won."""
    one = Transacted(handle, TICK, by=by, attempt=attempt, rerun=rerun)
    if not await one.bids():
        return False
    ended = await one.ended(body_of(handle))
    verdict = Verdict.RAN if ended.outcome is Outcome.RAN else Verdict.FAILED
    await handle.store.release([Release(TICK, one.bid.token, verdict)], replica=replica(by))
    return True


def life(database: str, case: Case) -> None:
    """All of the process's life, if it is let live."""

    async def alive() -> None:
        async with case.on(database) as handle:
            await run_once(handle, rerun=case.rerun)

    asyncio.run(alive())


def serve(database: str, case: Case, label: str) -> None:
    """A replica whose scheduler has the job; the first attempt at a tick never gets done."""

    async def serving() -> None:
        async with case.on(database) as handle:

            def linger(run: Run) -> Any:
                if run.attempt > 1:
                    return None
                told(database, f"INSERT INTO begun VALUES ('{label}')")
                return asyncio.sleep(60) if case.to_async else run.wait(60)

            scheduler = Scheduler(handle.store, app="app", replica=label, ttl=1)
            scheduler.every(4, job_id="pay", transactional=True, on_lost="rerun")(handle.writing(linger))
            await scheduler.serve()

    asyncio.run(serving())


def pay(database: str, case: Case, label: str) -> None:
    """A replica that pays once a second, until it is told to stop, or killed."""

    async def paying() -> None:
        async with case.on(database) as handle:

            async def noted(run: Run) -> None:
                seconds = random.random() / 2
                told_of = (
                    f"INSERT INTO paid SELECT '{run.scheduled_at}', {run.attempt} FROM pg_sleep({seconds})"
                )
                await handle.do(run.connection, told_of)

            scheduler = Scheduler(handle.store, app="app", replica=label, ttl=1, timeout=3)
            scheduler.every(1, job_id="pay", transactional=True, on_lost="rerun")(noted)
            await scheduler.serve_until_signal()

    asyncio.run(paying())
