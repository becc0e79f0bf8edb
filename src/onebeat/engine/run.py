"""A run as its body sees it, and the token with which a caller can call work off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from onebeat.errors import Cancelled, LeaseLost
from onebeat.model import Tick

_current: ContextVar[Run] = ContextVar("onebeat_current_run")


def current_run() -> Run:
    """The run this code is part of, in a task or a worker thread alike.

    Raises LookupError outside of a run.
    """
    return _current.get()


class Run:
    """One execution of a job's body, which may take it as its only argument.

    `tick` and `scheduled_at` are None for work run on demand. `started_at` and `scheduled_at` are in UTC;
    `lateness` is how many seconds after its instant the body began (W-LATENESS), 0 on demand.
    `fence` grows with every claim won for the job and `attempt` counts from 1; `fence` is None for a run
    that claimed nothing. `replica` is the label of the replica that runs it. `trace_id` is that of its
    trace, 32 hex digits, where it has one. `connection` is what a transactional body works on, while it runs;
    None for any other (F-TX).
    """

    __slots__ = (
        "_cause",
        "_decided",
        "_lease_left",
        "_on_cancel",
        "_waking",
        "attempt",
        "connection",
        "fence",
        "job_id",
        "lateness",
        "replica",
        "run_id",
        "started_at",
        "tick",
        "trace_id",
    )

    def __init__(self, job_id: str, run_id: str, *, replica: str, tick: Tick | None = None) -> None:
        self.job_id = job_id
        self.run_id = run_id
        self.replica = replica
        self.tick = tick
        self.attempt = 1
        self.fence: int | None = None
        self.connection: Any = None
        self.started_at: datetime | None = None
        self.lateness = 0.0
        self.trace_id: str | None = None
        self._cause: Cancelled | None = None
        self._waking: threading.Event | None = None
        self._on_cancel: Callable[[], object] | None = None
        self._decided = False
        self._lease_left: Callable[[], float] | None = None

    @property
    def scheduled_at(self) -> datetime | None:
        return self.tick.scheduled_at if self.tick else None

    @property
    def cancelled(self) -> bool:
        """Whether this run should end as soon as it can."""
        return self._cause is not None

    @property
    def cause(self) -> Cancelled | None:
        """Why it was cancelled: Superseded, ShuttingDown, TimedOut, LeaseLost or Cancelled; else None."""
        return self._cause

    def wait(self, seconds: float | None = None) -> bool:
        """Block until cancelled, for at most *seconds*; whether it is cancelled. For plain functions:
        an `async def` is cancelled by CancelledError instead."""
        if self._waking is None:
            self._waking = threading.Event()  # most bodies never ask
        if self._cause is not None:
            return True
        return self._waking.wait(seconds)

    def raise_if_cancelled(self) -> None:
        """Raise the cause if this run was cancelled."""
        if self._cause is not None:
            raise self._cause

    def check(self) -> None:
        """Raise the cause if this run was cancelled; LeaseLost if its lease is over by this machine's clock.

        Asks nobody and costs next to nothing: for before each effect, in an `async def` and a plain body
        alike. A process that was frozen for an hour learns of it here, before it hears from the fleet.
        """
        self.raise_if_cancelled()
        left = self.lease_left
        if left is not None and left <= 0:
            raise LeaseLost("its lease is over: a later tick may run elsewhere by now")

    def __repr__(self) -> str:
        return f"<Run {self.run_id} of {self.job_id!r}>"

    # For the engine, on the loop's own thread.

    def cancel(self, cause: Cancelled) -> None:
        """The first cause counts; later ones change nothing, nor does one that comes once it is decided."""
        if self._cause is None and not self._decided:
            self._cause = cause
            if self._waking is not None:
                self._waking.set()
            if self._on_cancel is not None:
                self._on_cancel()

    def when_cancelled(self, call: Callable[[], object] | None) -> None:
        """What a cancellation does in the phase that begins now; None: no more than be noted."""
        self._on_cancel = call

    def decide(self) -> None:
        """Its body is done and its transaction about to commit: from here on, that says how it went."""
        self._decided = True

    def begin_lease(self, lease: timedelta, monotonic: Callable[[], float]) -> None:
        """Its claim is about to be asked for: by this clock its lease is over no later than by the store's,
        which counts from when the claim arrives."""
        over_at = monotonic() + lease.total_seconds()
        self._lease_left = lambda: over_at - monotonic()

    @property
    def lease_left(self) -> float | None:
        """Seconds of its lease that are left by this machine's clock; None without a lease."""
        return None if self._lease_left is None else self._lease_left()

    def enter(self) -> None:
        """Make this the current run of the surrounding context."""
        _current.set(self)


class CancelToken:
    """Calls work off that was admitted with it: pending, waiting or running. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cause: Cancelled | None = None
        self._calls: list[Callable[[Cancelled], object]] = []

    @property
    def cancelled(self) -> bool:
        return self._cause is not None

    @property
    def cause(self) -> Cancelled | None:
        return self._cause

    def cancel(self, reason: str = "its token was cancelled") -> None:
        """Cancel all work admitted with this token, now and later; again changes nothing."""
        with self._lock:
            if self._cause is not None:
                return
            self._cause = Cancelled(reason)
            calls, self._calls = self._calls, []
        for call in calls:
            call(self._cause)

    def watch(self, call: Callable[[Cancelled], object]) -> Callable[[], None]:
        """Have *call* called with the cause, at once if it is there; what is returned ends that."""
        with self._lock:
            if self._cause is None:
                self._calls.append(call)
                return lambda: self._forget(call)
        call(self._cause)
        return lambda: None

    def _forget(self, call: Callable[[Cancelled], object]) -> None:
        with self._lock:
            if call in self._calls:
                self._calls.remove(call)
