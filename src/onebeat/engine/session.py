"""One life of a scheduler: from its start to its stop, on one loop of one process."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from onebeat.alarms import Watching
from onebeat.claims import ClaimStore
from onebeat.clock import Clock
from onebeat.engine.admission import Admission
from onebeat.engine.admitting import Admitting
from onebeat.engine.attempt import Attempt
from onebeat.engine.body import Body
from onebeat.engine.desk import Desk
from onebeat.engine.here import Here, identities
from onebeat.engine.job import Job
from onebeat.engine.limits import Limits
from onebeat.engine.posting import Posting
from onebeat.engine.pruner import Pruner
from onebeat.engine.recovery import Recovery
from onebeat.engine.releases import Releases
from onebeat.engine.run import CancelToken, Run
from onebeat.engine.runs import Runs
from onebeat.engine.settings import Settings
from onebeat.engine.shutdown import Shutdown
from onebeat.engine.slots import Slots
from onebeat.engine.target import check_isolated
from onebeat.engine.threads import Threads
from onebeat.engine.ticker import Ticker
from onebeat.engine.transaction import Transactions
from onebeat.engine.verdicts import Verdicts
from onebeat.errors import Cancelled
from onebeat.events import Observer, RunDropped, SchedulerStarted
from onebeat.fleet import fleet_side
from onebeat.model import Replica
from onebeat.permits import permit_side
from onebeat.transactions import transaction_side

if TYPE_CHECKING:
    from onebeat.engine.circulation import Circulation

Verb = Callable[[Slots, Admission], bool]


class Session:
    """Joins slots, ticker, desk, runs and heartbeat. Made before there is a loop: what is admitted until
    the start begins with it. Its replica's identity is its own (C-ID). Jobs are registered in *jobs* by its
    owner.

    `interrupt` is called when a body raises KeyboardInterrupt; `watch` makes what judges the alarms.
    """

    def __init__(
        self,
        settings: Settings,
        store: ClaimStore | None,
        jobs: Mapping[str, Job],
        *,
        clock: Clock,
        observe: Observer,
        interrupt: Callable[[], object],
        watch: Callable[[Here], Watching | None] = lambda _: None,
    ) -> None:
        replica = Replica(settings.app, identities.get()(), settings.label)
        self.here = Here(replica, clock, observe, settings, os.getpid())
        self._store = store
        self._fleet = fleet_side(store)
        self._jobs = jobs
        self._interrupt = interrupt
        self.slots = Slots(
            start=lambda admission: self.post(self._start, admission),
            cancel=lambda admission, cause: self.post(admission.run.cancel, cause),
            drop=lambda admission, cause: self.post(self._dropped, admission, cause),
            void=lambda admission: admission.void(clock.now()),
        )
        self._posting = Posting()
        self.post = self._posting.post
        self._ticker: Ticker | None = None
        self._circulation: Circulation | None = None
        self._watch = watch
        self._watching: Watching | None = None

    @property
    def started(self) -> bool:
        return self._posting.open

    @property
    def forked(self) -> bool:
        """Whether this process is a copy of the one this session was started in."""
        return self.started and self.here.is_copy

    # From any thread.

    def demand(
        self, verb: Verb, job_id: str, body: Body, deadline: datetime | None, token: CancelToken | None
    ) -> bool:
        """Admit work that runs here and is never claimed (C-DEMAND); whether it was admitted."""
        job = self._jobs.get(job_id)
        policy = job.policy if job else self.here.settings.policy
        check_isolated(policy, body)
        admission = Admission(
            Run(job_id, self.here.new_id(), replica=self.here.replica.label),
            body,
            policy,
            deadline=deadline,
            token=token,
            context=contextvars.copy_context(),
        )
        admitted = verb(self.slots, admission)
        if admitted and token is not None:
            called_off = partial(self._called_off, admission)
            admission.unwatch = token.watch(lambda cause: self.post(called_off, cause))
        return admitted

    def add(self, job: Job) -> None:
        if self._ticker is not None:
            self.post(self._added, job)

    def remove(self, job_id: str) -> None:
        if self._ticker is not None:
            self.post(self._removed, job_id)

    def upcoming(self) -> list[tuple[str, datetime]]:
        """Each job's next due instant, as the running ticker has it."""
        return self._ticker.upcoming() if self._ticker is not None else []

    # On the loop's thread.

    def start(self) -> None:
        """Begin: the first due instants are the first after now (W-FIRST)."""
        # An identity of this start: a scheduler made before a fork starts in every worker (C-ID).
        self.here = replace(self.here, pid=os.getpid())
        self.here.renew()
        self._wire()
        # Before the jobs are looked at: what comes or goes meanwhile is posted to it.
        ticker = self._ticker = Ticker(self.here, self._admitting)
        for job in list(self._jobs.values()):
            ticker.add(job.id, job.schedule)
        self.here.observe(self._started_event(ticker.next_due()))
        self._posting.deliver_here()
        loop = asyncio.get_running_loop()
        self.ticking = loop.create_task(ticker.run(), name="onebeat ticker")
        self._pruning = loop.create_task(self._pruner.run(), name="onebeat pruner") if self._pruner else None
        if self._circulation is not None:
            self._circulation.start()

    def shutdown(self) -> Shutdown:
        """What waits for the end; run it with `withdraw`."""
        return Shutdown(
            self.here,
            self.slots,
            self._desk,
            self._releases,
            self._verdicts,
            self._limits,
            self._attempt.children.kill,
        )

    def withdraw(self) -> None:
        """Hand out no more ticks."""
        self.ticking.cancel()
        if self._pruning is not None:
            self._pruning.cancel()
        self._admitting.withdraw()

    async def close(self) -> None:
        """Leave the fleet, and let the worker threads end."""
        self._threads.close()
        if self._watching is not None:
            await self._watching.close()
        if self._circulation is not None:
            await self._circulation.stop()

    def _wire(self) -> None:
        here, store = self.here, self._store
        self._threads = Threads(here.settings.threads, here.clock)
        recovery = Recovery(self._recovered)
        self._releases = Releases(store, here, recovery) if store is not None else None
        self._desk = (
            Desk(store, here, self._releases, recovery) if store is not None and self._releases else None
        )
        self._pruner = Pruner(store, here) if store is not None else None
        self._verdicts = Verdicts(self._fleet, here) if self._fleet is not None else None
        self._limits = Limits(here, permit_side(store))
        self._admitting = Admitting(here, self.slots, self._jobs, self._verdicts)
        self._attempt = Attempt(here, self._threads, self._limits, self._interrupt, self._transactions())
        self._runs = Runs(
            here,
            attempt=self._attempt,
            desk=self._desk,
            releases=self._releases,
            finished=self._finished,
            won=self._admitting.won,
            refused=self._admitting.refused,
            postpone=self._admitting.postpone,
        )
        if self._fleet is not None and self._releases is not None:
            from onebeat.engine.circulation import Circulation  # not needed to import onebeat

            self._watching = self._watch(here)
            self._circulation = Circulation(
                self._fleet,
                here,
                self._jobs,
                admitting=self._admitting,
                held=self._runs.held,
                releases=self._releases,
                post=self.post,
                felt=self._watching.felt if self._watching is not None else lambda _: None,
            )

    def _transactions(self) -> Transactions | None:
        side = transaction_side(self._store)
        return None if side is None else Transactions(side, self.here)

    def _recovered(self) -> None:
        if self._circulation is not None:
            self._circulation.look()

    def _finished(self, admission: Admission) -> None:
        self.slots.finished(admission)
        self._admitting.freed(admission)

    def _added(self, job: Job) -> None:
        if self._ticker is not None:
            self._ticker.add(job.id, job.schedule)
        if self._circulation is not None:
            self._circulation.add(job)

    def _removed(self, job_id: str) -> None:
        if self._ticker is not None:
            self._ticker.remove(job_id)
        self._admitting.forget(job_id)

    def _started_event(self, first_due: datetime | None) -> SchedulerStarted:
        jobs = list(self._jobs.values())
        return SchedulerStarted(
            replica=self.here.replica,
            store=self._store.label if self._store is not None else None,
            jobs=tuple(job.id for job in jobs),
            every_replica=tuple(job.id for job in jobs if job.policy.on_every_replica),
            first_due=first_due,
        )

    def _start(self, admission: Admission) -> None:
        self._runs.start(admission)

    def _called_off(self, admission: Admission, cause: Cancelled) -> None:
        """Its token was cancelled: whether it is pending, waits or runs."""
        self.slots.forget_pending(admission, cause)
        admission.run.cancel(cause)

    def _dropped(self, admission: Admission, cause: Cancelled) -> None:
        admission.unwatch()
        self.here.observe(RunDropped(admission.job_id, cause))
