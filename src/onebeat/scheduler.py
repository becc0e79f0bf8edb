"""The public face: jobs are registered here, and served until stopped."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from onebeat.alarms import Watching
from onebeat.background import Background
from onebeat.clock import Clock, SystemClock
from onebeat.connect import connect
from onebeat.decorators import JobDecorators
from onebeat.engine.body import Body, Work
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.job import Duration, Job, PolicyKeywords
from onebeat.engine.limit import Limit
from onebeat.engine.loops import run_on_own_loop
from onebeat.engine.run import CancelToken
from onebeat.engine.session import Session, Verb
from onebeat.engine.settings import Settings
from onebeat.engine.shutdown import Shutdown
from onebeat.engine.signals import on_stop_signals
from onebeat.engine.slots import Slots
from onebeat.engine.target import check_isolated
from onebeat.engine.transaction import check_transactional
from onebeat.errors import AlreadyRan, ClaimFailed, InvalidSchedule, InvalidSetting, JobExists
from onebeat.events import ForkIgnored, Observer
from onebeat.fleet import fleet_side
from onebeat.model import checked_instant, checked_name
from onebeat.observers.logs import LogObserver
from onebeat.observers.relay import Relay
from onebeat.permits import permit_side
from onebeat.schedule import Schedule, for_job
from onebeat.schedules.parse import schedule_of

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

    from onebeat.alerts.alarm import Alarm


class Scheduler(JobDecorators):
    """Runs jobs on their schedules; replicas that share *store* and *app* run every tick once among them.

    store: a ClaimStore, a URL (`sqlite:///jobs.db`, `postgresql://…`), a connection pool, an engine or
        Django's connection;
        None: nothing is shared, and every replica fires every tick (a WARNING says so).
    app: the namespace that lets several services share one database.
    replica: this replica's label in logs and history; it decides nothing (default: the environment's
        ONEBEAT_REPLICA, else the host's name).
    timeout: how long a body may run (default 1 hour; None: no limit); a job may say otherwise.
    lease_margin: by how much a claim's lease outlasts the timeout (default 1 minute).
    claim_timeout: how long a claim may take; then the tick is skipped here (default 10 seconds).
    shutdown_timeout: how long to wait for running bodies when stopping (default 60 seconds).
    retention: how long the store keeps rows of past ticks (default 24 hours); retention_count: how many
        it keeps of each job at most (default None: any number).
    ttl: how long a replica may be silent before others declare it dead (default 60 seconds); it beats four
        times as often.
    limits: at most so many runs at a time per prefix of job ids.
    alarms: whom to tell when something is wrong with a job; see `Alarm`.
    observers: told of every event; see `onebeat.events`.
    threads: how many plain functions may run at a time (default 64).
    clock: what tells time; tests give a FakeClock.
    logger, meter, tracer: default the logger `onebeat` and OpenTelemetry's global providers.

    Durations are seconds or timedeltas. Raises InvalidSetting for what makes no sense.
    """

    def __init__(
        self,
        store: object = None,
        *,
        app: str = "default",
        replica: str | None = None,
        timeout: Duration | None = 3600,
        lease_margin: Duration = 60,
        claim_timeout: Duration = 10,
        shutdown_timeout: Duration = 60,
        retention: Duration = 86_400,
        retention_count: int | None = None,
        ttl: Duration = 60,
        limits: Iterable[Limit] = (),
        alarms: Iterable[Alarm] = (),
        observers: Iterable[Observer] = (),
        threads: int = 64,
        clock: Clock | None = None,
        logger: logging.Logger | None = None,
        meter: Meter | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self._settings = Settings.of(
            app=app,
            replica=replica,
            timeout=timeout,
            lease_margin=lease_margin,
            claim_timeout=claim_timeout,
            shutdown_timeout=shutdown_timeout,
            retention=retention,
            retention_count=retention_count,
            ttl=ttl,
            limits=limits,
            threads=threads,
        )
        self._clock = clock or SystemClock()
        self._store = connect(store, clock=self._clock)
        self._closes_store = self._store is not store
        self._check_limits()
        self._jobs: dict[str, Job] = {}
        from onebeat.alerts.alerts import Alerts  # not needed to import onebeat

        self._alerts = Alerts(alarms, self._store, lambda event: self._relay(event))
        self._relay = Relay(
            (LogObserver(logger), self._otel(meter, tracer), *self._alerts.observers, *observers),
            logger or logging.getLogger("onebeat"),
        )
        self._registering = threading.Lock()
        self._ending: tuple[Shutdown, asyncio.Task[None]] | None = None
        self._fork_told = False
        self._session = self._new_session()

    # Registering jobs: before or after the start, from any thread.

    def add(
        self, job_id: str, schedule: Schedule | str, work: Work, **policy: Unpack[PolicyKeywords]
    ) -> None:
        """Register *work* under *job_id*, due by *schedule* (a text is read by `parse`).

        Raises InvalidJob, InvalidSchedule or InvalidSetting, and JobExists for an id registered
        already; then nothing is registered.
        """
        terms = self._settings.policy.with_keywords(policy)
        if self._store is not None and fleet_side(self._store) is None:
            terms.check_bounded()
        due = _hashable(for_job(schedule_of(schedule), checked_name("job_id", job_id)))
        job = Job(job_id, due, Body.of(work), terms)
        check_transactional(terms, job.body, self._store)
        check_isolated(terms, job.body)
        with self._registering:
            if job_id in self._jobs:
                raise JobExists(job_id)
            self._jobs[job_id] = job
            self._session.add(job)

    def remove(self, job_id: str) -> bool:
        """End its future ticks; a run that goes on ends by itself. Whether it was registered."""
        with self._registering:
            removed = self._jobs.pop(job_id, None)
            if removed is not None:
                self._session.remove(job_id)
        return removed is not None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The registered jobs, in the order of their registration."""
        with self._registering:
            return tuple(self._jobs.values())

    # Work on demand: from any thread, without waiting.

    def run_once(
        self,
        job_id: str,
        work: Work | None,
        *,
        deadline: datetime | None = None,
        cancel: CancelToken | None = None,
    ) -> bool:
        """Run *work* here and now under *job_id* unless that id is busy; whether it was admitted (J-ONCE).

        Before the start it waits for the start; while and after stopping the answer is False, as for an
        empty id, no work, a *deadline* (aware) that has passed or a token cancelled already. The
        deadline takes the place of the job timeout. Raises InvalidJob for other work than a function.
        """
        return self._demand(Slots.run_once, job_id, work, deadline, cancel)

    def run_next(
        self,
        job_id: str,
        work: Work | None,
        *,
        deadline: datetime | None = None,
        cancel: CancelToken | None = None,
    ) -> bool:
        """Run *work* now, or after the current run in place of what waited (J-NEXT). See `run_once`."""
        return self._demand(Slots.run_next, job_id, work, deadline, cancel)

    def supersede(
        self,
        job_id: str,
        work: Work | None,
        *,
        deadline: datetime | None = None,
        cancel: CancelToken | None = None,
    ) -> bool:
        """Like `run_next`, and cancel the current run with the cause Superseded (J-SUPER)."""
        return self._demand(Slots.supersede, job_id, work, deadline, cancel)

    @property
    def active(self) -> int:
        """How many ids are busy: running, waiting for a permit, or claiming (J-ACTIVE)."""
        return 0 if self._session.forked else self._session.slots.active

    async def idle(self) -> None:
        """Return on the signal that the last busy id has ended (J-ACTIVE). On the scheduler's loop."""
        await self._session.slots.idle.wait()

    def upcoming(self) -> Iterator[tuple[str, datetime]]:
        """Each job's id and next due instant (UTC), while serving; jobs never due again are left out."""
        yield from self._session.upcoming()

    # Serving, once.

    async def __aenter__(self) -> Self:
        self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def serve(self) -> None:
        """Serve until `stop()`; cancelled, stop in the same order, then let the cancellation go on (X-STOP).

        Raises AlreadyRan when this scheduler was started before.
        """
        await self._serve(lambda: None)

    def run(self) -> None:
        """Serve, blocking, until SIGINT, SIGTERM or `stop()`. A second signal stops waiting for bodies."""
        run_on_own_loop(self.serve_until_signal())

    async def serve_until_signal(self) -> None:
        """Like `serve`, and stop at SIGINT or SIGTERM too; a second one stops waiting for bodies. For the
        main thread of a program that leaves these signals to its scheduler."""
        with on_stop_signals(lambda _: self._stop_or_hurry()):
            await self.serve()

    def start_background(self) -> Background:
        """Serve in a thread of its own, for programs without an event loop, until its `stop()` or the exit.

        Call it in each worker process. Raises InvalidSetting for a pool that is tied to another loop.
        """
        if self._store is not None and self._store.loop_bound is not None:
            raise InvalidSetting(
                "store",
                self._store.loop_bound,
                "a store that serves any loop",
                "give a URL or a synchronous pool; an async pool serves only the loop it was made on",
            )
        return Background(self._serve, self.stop)

    def stop(self) -> None:
        """Stop in order, from any thread, without waiting; again changes nothing."""
        self._session.post(self._begin_end)

    def _stop_or_hurry(self) -> None:
        if self._ending is not None:
            self._ending[0].hurry()
        self._begin_end()

    async def _serve(self, begun: Callable[[], object]) -> None:
        self._begin()
        begun()
        try:
            await asyncio.wait({self._session.ticking})
            if self._ending is None:
                self._session.ticking.result()  # a fault of ours in there must not pass for a stop
        finally:
            await self._end()

    def _begin(self) -> None:
        if self._session.forked:
            # A copy starts a life of its own: nothing of the parent's is used in it.
            self._session = self._new_session()
            self._ending = None
        if self._session.started:
            raise AlreadyRan("a scheduler runs once; make a new one to run again")
        self._session.start()

    def _begin_end(self) -> tuple[Shutdown, asyncio.Task[None]]:
        """Stop, whoever waits for it then: `serve`, or the end of an `async with`. On the loop's thread."""
        if self._ending is None:
            shutdown = self._session.shutdown()
            self._ending = shutdown, asyncio.ensure_future(shutdown.run(self._session.withdraw))
        return self._ending

    async def _end(self) -> None:
        """In order, and wholly: a cancellation meanwhile stops the waiting, and goes on at the end."""
        session = self._session
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

    def _demand(
        self,
        verb: Verb,
        job_id: str,
        work: Work | None,
        deadline: datetime | None,
        cancel: CancelToken | None,
    ) -> bool:
        if not job_id or work is None:
            return False
        body = Body.of(work)
        until = None if deadline is None else checked_instant("deadline", deadline)
        if self._session.forked:
            self._tell_fork()
            return False
        return self._session.demand(verb, checked_name("job_id", job_id), body, until, cancel)

    def _tell_fork(self) -> None:
        if not self._fork_told:
            self._fork_told = True
            self._relay(ForkIgnored(self._session.here.replica))

    def _otel(self, meter: Meter | None, tracer: Tracer | None) -> Observer:
        from onebeat.observers.otel import OtelObserver  # not needed to import onebeat

        return OtelObserver(meter, tracer, self.upcoming)

    def _watch(self, here: Here) -> Watching | None:
        return self._alerts.watch(
            here.replica.app, here.clock, identity=lambda: here.replica.id, knows=self._jobs.__contains__
        )

    def _check_limits(self) -> None:
        shared = [limit.prefix for limit in self._settings.limits if limit.fleet]
        if shared and permit_side(self._store) is None:
            expected = "a store that hands out permits, for fleet=True"
            raise InvalidSetting("limits", shared, expected, "give store=")

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


def _hashable(schedule: Schedule) -> Schedule:
    try:
        hash(schedule)
    except TypeError:
        raise InvalidSchedule(
            "schedule", schedule, "a hashable value", "equal schedules count once"
        ) from None
    return schedule
