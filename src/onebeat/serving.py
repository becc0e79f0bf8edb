"""All of a scheduler that serves: from its start to its stop, in order, and anew in a forked copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from onebeat.alarms import Watching
from onebeat.claims import ClaimStore
from onebeat.clock import Clock
from onebeat.engine.body import Body
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.job import Job
from onebeat.engine.run import CancelToken
from onebeat.engine.session import Session
from onebeat.engine.settings import Settings
from onebeat.engine.shutdown import Shutdown
from onebeat.engine.signals import on_stop_signals
from onebeat.engine.slots import Slots
from onebeat.errors import AlreadyRan, ClaimFailed
from onebeat.events import ForkIgnored
from onebeat.observers.logs import LogObserver
from onebeat.observers.otel import OtelObserver
from onebeat.observers.relay import Relay

if TYPE_CHECKING:
    import logging

    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

    from onebeat.alerts.alerts import Alerts

Verb = Literal["run_once", "run_next", "supersede"]
_VERBS = {"run_once": Slots.run_once, "run_next": Slots.run_next, "supersede": Slots.supersede}


class Serving:
    """Begins and ends the session of this process. Made before there is a loop, and without any effect
    until it begins. Jobs are registered in *jobs* by its owner."""

    def __init__(
        self,
        settings: Settings,
        store: ClaimStore | None,
        jobs: Mapping[str, Job],
        *,
        clock: Clock,
        relay: Relay,
        alerts: Alerts | None,
        logger: logging.Logger,
        meter: Meter | None,
        tracer: Tracer | None,
        closes_store: bool,
    ) -> None:
        self._settings = settings
        self._store = store
        self._jobs = jobs
        self._clock = clock
        self._relay = relay
        self._alerts = alerts
        self._logger, self._meter, self._tracer = logger, meter, tracer
        self._closes_store = closes_store
        self._ending: tuple[Shutdown, asyncio.Task[None]] | None = None
        self._fork_told = False
        self.session = self._new_session()

    @property
    def active(self) -> int:
        return 0 if self.session.forked else self.session.slots.active

    def demand(
        self, verb: Verb, job_id: str, body: Body, deadline: datetime | None, token: CancelToken | None
    ) -> bool:
        """Admit work that is never claimed; whether it was admitted. From any thread."""
        if self.session.forked:
            self._tell_fork()
            return False
        return self.session.demand(_VERBS[verb], job_id, body, deadline, token)

    def stop(self) -> None:
        """Stop in order, from any thread, without waiting; again changes nothing."""
        self.session.post(self._begin_end)

    async def serve_until_signal(self) -> None:
        """`serve`, until SIGINT or SIGTERM too; a second one stops waiting for bodies."""
        with on_stop_signals(lambda _: self._stop_or_hurry()):
            await self.serve(lambda: None)

    async def serve(self, begun: Callable[[], object]) -> None:
        """From the start, after which *begun* is called, to the end."""
        self.begin()
        begun()
        try:
            await asyncio.wait({self.session.ticking})
            if self._ending is None:
                self.session.ticking.result()  # a fault of ours in there must not pass for a stop
        finally:
            await self.end()

    def begin(self) -> None:
        """Start the session. Raises AlreadyRan when it was started before, in this process."""
        if self.session.forked:
            # A copy starts a life of its own: nothing of the parent's is used in it.
            self.session = self._new_session()
            self._ending = None
        elif self.session.started:
            raise AlreadyRan("a scheduler runs once; make a new one to run again")
        else:
            otel = OtelObserver(self._meter, self._tracer, lambda: self.session.upcoming())
            self._relay.put_first(LogObserver(self._logger), otel)
        self.session.start()

    async def end(self) -> None:
        """In order, and wholly: a cancellation meanwhile stops the waiting, and goes on at the end."""
        session = self.session
        if session.forked:
            self._tell_fork()
            return
        shutdown, ending = self._begin_end()
        cancelled: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.wait({ending})
            except asyncio.CancelledError as error:
                cancelled = error
                shutdown.hurry()
        await session.close()
        if self._closes_store and self._store is not None:
            with suppress(ClaimFailed):
                await bounded(self._store.close, self._settings.claim_timeout.total_seconds(), self._clock)
        self._relay.close(1.0)
        if cancelled is not None:
            raise cancelled

    def _stop_or_hurry(self) -> None:
        if self._ending is not None:
            self._ending[0].hurry()
        self._begin_end()

    def _begin_end(self) -> tuple[Shutdown, asyncio.Task[None]]:
        """Stop, whoever waits for it then: `serve`, or the end of an `async with`. On the loop's thread."""
        if self._ending is None:
            shutdown = self.session.shutdown()
            self._ending = shutdown, asyncio.ensure_future(shutdown.run(self.session.withdraw))
        return self._ending

    def _tell_fork(self) -> None:
        if not self._fork_told:
            self._fork_told = True
            self._relay(ForkIgnored(self.session.here.replica))

    def _watch(self, here: Here) -> Watching | None:
        if self._alerts is None:
            return None
        return self._alerts.watch(
            here.replica.app, here.clock, identity=lambda: here.replica.id, knows=self._jobs.__contains__
        )

    def _new_session(self) -> Session:
        return Session(
            self._settings,
            self._store,
            self._jobs,
            clock=self._clock,
            observe=self._relay,
            interrupt=self.stop,
            watch=self._watch,
        )
