"""The public face: jobs are registered here, and served until stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from onebeat.clock import Clock, SystemClock
from onebeat.connect import connect
from onebeat.decorators import JobDecorators
from onebeat.engine.body import Body, Work
from onebeat.engine.checks import check_job, check_limits, check_token, hashable, several
from onebeat.engine.job import Duration, Job, PolicyKeywords
from onebeat.engine.limit import Limit
from onebeat.engine.loops import run_on_own_loop
from onebeat.engine.settings import Settings
from onebeat.errors import InvalidSetting, JobExists
from onebeat.model import checked_instant, checked_name
from onebeat.observers.relay import Relay
from onebeat.schedule import Schedule, for_job
from onebeat.schedules.parse import schedule_of

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

    from onebeat.alerts.alarm import Alarm
    from onebeat.alerts.alerts import Alerts
    from onebeat.background import Background
    from onebeat.engine.run import CancelToken
    from onebeat.events import Observer
    from onebeat.serving import Serving, Verb


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
            limits=several("limits", limits),
            threads=threads,
        )
        self._clock = clock or SystemClock()
        self._store = connect(store, clock=self._clock)
        self._closes_store = self._store is not store
        check_limits(self._settings.limits, self._store)
        self._jobs: dict[str, Job] = {}
        self._alerts = self._alerts_of(several("alarms", alarms))
        self._logger, self._meter, self._tracer = logger or logging.getLogger("onebeat"), meter, tracer
        hearing = self._alerts.observers if self._alerts else ()
        self._relay = Relay((*hearing, *several("observers", observers)), self._logger)
        self._registering = threading.Lock()
        self._made: list[Serving] = []
        self._stop_asked = False

    # Registering jobs: before or after the start, from any thread.

    def add(
        self, job_id: str, schedule: Schedule | str, work: Work, **policy: Unpack[PolicyKeywords]
    ) -> None:
        """Register *work* under *job_id*, due by *schedule* (a text is read by `parse`).

        Raises InvalidJob, InvalidSchedule or InvalidSetting, and JobExists for an id registered
        already; then nothing is registered.
        """
        terms = self._settings.policy.with_keywords(policy)
        due = hashable(for_job(schedule_of(schedule), checked_name("job_id", job_id)))
        job = Job(job_id, due, Body.of(work), terms)
        check_job(job, self._store)
        with self._registering:
            if job_id in self._jobs:
                raise JobExists(job_id)
            self._jobs[job_id] = job
            for made in self._made:
                made.session.add(job)

    def remove(self, job_id: str) -> bool:
        """End its future ticks; a run that goes on ends by itself. Whether it was registered."""
        with self._registering:
            removed = self._jobs.pop(job_id, None)
            if removed is not None:
                for made in self._made:
                    made.session.remove(job_id)
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
        return self._demand("run_once", job_id, work, deadline, cancel)

    def run_next(
        self,
        job_id: str,
        work: Work | None,
        *,
        deadline: datetime | None = None,
        cancel: CancelToken | None = None,
    ) -> bool:
        """Run *work* now, or after the current run in place of what waited (J-NEXT). See `run_once`."""
        return self._demand("run_next", job_id, work, deadline, cancel)

    def supersede(
        self,
        job_id: str,
        work: Work | None,
        *,
        deadline: datetime | None = None,
        cancel: CancelToken | None = None,
    ) -> bool:
        """Like `run_next`, and cancel the current run with the cause Superseded (J-SUPER)."""
        return self._demand("supersede", job_id, work, deadline, cancel)

    @property
    def active(self) -> int:
        """How many ids are busy: running, waiting for a permit, or claiming (J-ACTIVE)."""
        return self._made[0].active if self._made else 0

    async def idle(self) -> None:
        """Return on the signal that the last busy id has ended (J-ACTIVE). On the scheduler's loop."""
        await self._serving().session.slots.idle.wait()

    def upcoming(self) -> Iterator[tuple[str, datetime]]:
        """Each job's id and next due instant (UTC), while serving; jobs never due again are left out."""
        yield from self._made[0].session.upcoming() if self._made else ()

    # Serving, once.

    async def __aenter__(self) -> Self:
        self._serving().begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._serving().end()

    async def serve(self) -> None:
        """Serve until `stop()`; cancelled, stop in the same order, then let the cancellation go on (X-STOP).

        Raises AlreadyRan when this scheduler was started before.
        """
        await self._serving().serve(lambda: None)

    def run(self) -> None:
        """Serve, blocking, until SIGINT, SIGTERM or `stop()`. A second signal stops waiting for bodies."""
        run_on_own_loop(self.serve_until_signal())

    async def serve_until_signal(self) -> None:
        """Like `serve`, and stop at SIGINT or SIGTERM too; a second one stops waiting for bodies. For the
        main thread of a program that leaves these signals to its scheduler."""
        await self._serving().serve_until_signal()

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
        from onebeat.background import Background  # not needed to import onebeat

        return Background(self._serving().serve, self.stop)

    def stop(self) -> None:
        """Stop in order, from any thread, without waiting; again changes nothing."""
        self._stop_asked = True  # first: whoever makes what serves meanwhile looks at it afterwards
        if self._made:
            self._made[0].stop()

    def _serving(self) -> Serving:
        """All that serves, made when first asked for: to register jobs does not load it."""
        if not self._made:
            from onebeat.serving import Serving

            serving = Serving(
                self._settings,
                self._store,
                self._jobs,
                clock=self._clock,
                relay=self._relay,
                alerts=self._alerts,
                logger=self._logger,
                meter=self._meter,
                tracer=self._tracer,
                closes_store=self._closes_store,
            )
            # No lock, which a signal's handler could find taken: of several made at once the first counts.
            self._made.append(serving)
            if self._stop_asked:
                self._made[0].stop()
        return self._made[0]

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
        if cancel is not None:
            check_token(cancel)
        until = None if deadline is None else checked_instant("deadline", deadline)
        return self._serving().demand(verb, checked_name("job_id", job_id), body, until, cancel)

    def _alerts_of(self, alarms: tuple[Alarm, ...]) -> Alerts | None:
        if not alarms:
            return None
        from onebeat.alerts.alerts import Alerts  # not needed to import onebeat

        return Alerts(alarms, self._store, lambda event: self._relay(event))
