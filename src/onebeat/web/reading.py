"""What the pages read from the store, and how long it may be remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from onebeat.claims import ClaimStore
from onebeat.errors import ClaimFailed
from onebeat.history import MOST_ROWS, JobState, Mark, RunHistory, TickFilter, TickRecord
from onebeat.insight.upcoming import next_of
from onebeat.insight.wellness import Fleet, all_jobs, running_since
from onebeat.web.remembered import Lagging, Remembered

MARKS = 50
"""How many of a job's newest ticks are drawn in a list of jobs."""

A_GLANCE = 2.5
"""Seconds. Whoever watches is shown a change every three."""

_A_WHILE = 15.0
"""Seconds for which those that have run for long are known to run still."""

_A_BLINK = 0.02
"""Seconds. A page that waits no longer is told the rest by its next look."""

_OF_LATE = timedelta(minutes=10)

_WARMING = 3.0
"""Seconds for which a server's start may wait for the store."""

_MOST_SCHEDULES = 20_000


@dataclass(frozen=True, slots=True)
class Overall:
    """The fleet at a moment, why it is not well, and which jobs run."""

    fleet: Fleet
    troubles: Sequence[str]
    running: frozenset[str]


class Instants:
    """When jobs come next, remembered by schedule until that instant: most schedules are those of many jobs.

    Safe in threads: at worst, two work out the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[datetime, datetime | None]] = {}

    def next_of(self, job: JobState, now: datetime) -> datetime | None:
        """As `next_of` says it."""
        if job.schedule is None or job.paused_until is not None:
            return next_of(job, now)
        since, due = self._known.get(job.schedule, (None, None))
        if since is None or now < since or (due is not None and due <= now):
            due = next_of(job, now)
            if len(self._known) >= _MOST_SCHEDULES:
                self._known.clear()
            self._known[job.schedule] = (now, due)
        return due


class Reader:
    """The store's history of one *app*. All raise ClaimFailed when the store cannot answer."""

    def __init__(self, store: ClaimStore, app: str) -> None:
        self.store = store
        self.history = cast(RunHistory, store)
        self.app = app
        self.instants = Instants()
        self._overall: Remembered[Overall] = Remembered(A_GLANCE)
        self._running: Lagging[Sequence[TickRecord]] = Lagging((), seconds=_A_WHILE, patience=_A_BLINK)
        self._marks: Remembered[Mapping[str, Sequence[Mark]]] = Remembered(A_GLANCE)

    async def overall(self) -> Overall:
        """The whole fleet, as it was a glance ago at most: one reading for all who look."""
        return await self._overall.get("overall", self._read)

    async def warm(self) -> None:
        """Have what the first look needs, connections and all; whatever becomes of it, within seconds."""
        looking = asyncio.ensure_future(self.overall())
        await asyncio.wait({looking}, timeout=_WARMING)
        looking.cancel()
        with suppress(ClaimFailed, asyncio.CancelledError):
            await looking

    async def marks(self, job_ids: Sequence[str]) -> Mapping[str, Sequence[Mark]]:
        """The newest MARKS ticks of each of these jobs, as they were a glance ago at most."""
        if not job_ids:
            return {}
        return await self._marks.get(
            tuple(job_ids), lambda: self.history.marks(job_ids, app=self.app, each=MARKS)
        )

    async def _read(self) -> Overall:
        jobs, now, replicas = await asyncio.gather(
            all_jobs(self.history, self.app),
            self.history.store_time(),
            self.history.replicas(app=self.app),
        )
        running = await self._running_now(running_since(jobs, now), now - _OF_LATE)
        fleet = Fleet(now, tuple(replicas), tuple(jobs), tuple(running))
        # Off the loop: with thousands of jobs on each of many replicas it takes a moment.
        return await asyncio.to_thread(_overall_of, fleet)

    async def _running_now(self, since: datetime, late: datetime) -> Sequence[TickRecord]:
        """What runs of the ticks since *late*, and what was known to run of those before: they are sought
        among all ticks of a day, which takes its time where there are many."""
        newest = await self._running_since(late)
        older = await self._running.get(lambda: self._running_since(since))
        return [*newest, *(each for each in older if each.tick.scheduled_at < late)]

    async def _running_since(self, since: datetime) -> Sequence[TickRecord]:
        which = TickFilter(running=True, since=since)
        return (await self.history.ticks(which, app=self.app, limit=MOST_ROWS)).rows


def _overall_of(fleet: Fleet) -> Overall:
    held = {job.job_id for job in fleet.jobs if job.holder is not None}
    return Overall(fleet, fleet.troubles, frozenset(held | {each.tick.job_id for each in fleet.running}))
