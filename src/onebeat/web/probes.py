"""What machines ask: whether the process is up, whether the store answers, and the fleet in numbers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from onebeat.clock import Clock, SystemClock
from onebeat.connect import connect
from onebeat.errors import ClaimFailed, InvalidSetting
from onebeat.history import history_side
from onebeat.insight.wellness import lives
from onebeat.model import checked_name
from onebeat.web.headers import Headers, broken
from onebeat.web.reading import Reader
from onebeat.web.remembered import Remembered
from onebeat.web.views.metrics import LATELY, fleet_gauges, job_gauges, metrics_text, store_gauge

PATIENCE = 2.0
"""Seconds within which the store is to answer."""

METRICS_PATIENCE = 8.0
"""Seconds after which numbers are given up: Prometheus waits for ten."""

T = TypeVar("T")

_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


class Probes:
    """Each costs the store one reading in a while, however often it is asked."""

    def __init__(self, reader: Reader, clock: Clock | None = None) -> None:
        self._reader = reader
        self._clock = clock or SystemClock()
        self._living: Remembered[int] = Remembered(1.0)
        self._numbers: Remembered[str] = Remembered(5.0)

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
        ]

    async def healthz(self, _: Request) -> Response:
        """The process is up: nothing else is looked at."""
        return PlainTextResponse("up\n")

    async def readyz(self, _: Request) -> Response:
        """200 when the store answers, 503 when it does not; how many replicas live is told, and decides
        nothing: pages are of use above all when nobody lives."""
        try:
            living = await self._within(PATIENCE, self._living.get("living", self._count))
        except ClaimFailed:
            return JSONResponse({"store": "does not answer"}, 503)
        return JSONResponse({"store": "answers", "living": living})

    async def metrics(self, request: Request) -> Response:
        """`?jobs=no` leaves out the series that each job has."""
        each = request.query_params.get("jobs") != "no"
        try:
            text = await self._within(METRICS_PATIENCE, self._numbers.get(each, lambda: self._text(each)))
        except ClaimFailed:
            text = metrics_text([store_gauge(self._reader.app, False)])
        return Response(text, media_type=_FORMAT)

    async def _within(self, seconds: float, question: Coroutine[Any, Any, T]) -> T:
        """The answer. Raises ClaimFailed when there is none in time."""
        asked = asyncio.ensure_future(question)
        late = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({asked, late}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
        finally:
            asked.cancel()
            late.cancel()
        raise ClaimFailed(f"no answer within {seconds:g} s")

    async def _count(self) -> int:
        now = await self._reader.history.store_time()
        replicas = await self._reader.history.replicas(app=self._reader.app)
        return sum(lives(replica, now) for replica in replicas)

    async def _text(self, each: bool) -> str:
        app = self._reader.app
        fleet = (await self._reader.overall()).fleet
        counts = await self._reader.history.counts(app=app, since=fleet.now - LATELY, until=fleet.now)
        gauges = [store_gauge(app, True), *fleet_gauges(fleet, counts, app)]
        # Off the loop: thousands of jobs have thousands of lines.
        return await asyncio.to_thread(metrics_text, gauges + (job_gauges(fleet, app) if each else []))


def health(store: object, *, app: str = "default", schema: str | None = None) -> Starlette:
    """An ASGI app of `/healthz`, `/readyz` and `/metrics` alone, for a worker that shows no pages.

    *store* is what a Scheduler takes. Raises InvalidSetting, or InvalidJob for a name, for what can mean
    nothing.
    """
    checked_name("app", app)
    found = connect(store) if schema is None else connect(store, schema=schema)
    if found is None or history_side(found) is None:
        raise InvalidSetting("store", type(store).__name__, "a store that keeps the history of a fleet")

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        await found.close()

    probes = Probes(Reader(found, app))
    return Starlette(
        routes=list(probes.routes),
        middleware=[Middleware(Headers)],
        exception_handlers={Exception: broken},
        lifespan=closing,
    )
