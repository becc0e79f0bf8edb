"""What the fleet page shows, asked for once for all who look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from onebeat.clock import SystemClock
from onebeat.doctor import Finding
from onebeat.history import MOST_ROWS, OF_LATE, TickFilter
from onebeat.insight.examined import examined
from onebeat.web.reading import Reader
from onebeat.web.remembered import Remembered
from onebeat.web.views.fleet import FleetView, fleet_view

_A_GLANCE = 2.0
"""Seconds. Whoever watches is shown a change every three."""


class FleetReader:
    """The fleet as it is, and the health of its store. All raise ClaimFailed when the store cannot answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._view: Remembered[FleetView] = Remembered(_A_GLANCE)
        self._since: Remembered[datetime] = Remembered()
        self._health: Remembered[Sequence[Finding]] = Remembered()

    async def view(self) -> FleetView:
        """As it was a glance ago at most."""
        return await self._view.get("view", self._look)

    async def health(self) -> Sequence[Finding]:
        """What the doctor finds, as of a minute ago at most: he looks long. None where he knows no way to
        look into a store."""
        return await self._health.get("health", self._examine)

    async def _look(self) -> FleetView:
        history, app = self._reader.history, self._reader.app
        replicas = await history.replicas(app=app)
        which = TickFilter(running=True, since=await self._since.get("since", self._oldest))
        running = await history.ticks(which, app=app, limit=MOST_ROWS)
        return fleet_view(replicas, running.rows, await history.store_time(), cut=running.next is not None)

    async def _oldest(self) -> datetime:
        """No run is older: what holds its job is no older than the job's watermark; of jobs that may overlap,
        which hold nothing, a day is looked through. Without a bound it would be the whole history."""
        jobs = await self._reader.jobs()
        now = await self._reader.history.store_time()
        return min([now - OF_LATE, *(job.watermark for job in jobs if job.holder and job.watermark)])

    async def _examine(self) -> Sequence[Finding]:
        if not callable(getattr(self._reader.store, "fleet_health", None)):
            return ()
        return await examined(self._reader.store, self._reader.app, here=SystemClock().now())
