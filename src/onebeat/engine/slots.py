"""Which ids are busy, and what waits behind them. Safe from any thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

from onebeat.engine.admission import Admission
from onebeat.engine.idle import IdleSignal
from onebeat.errors import Cancelled, ShuttingDown, Superseded

Start = Callable[[Admission], object]
Cancel = Callable[[Admission, Cancelled], object]
Drop = Callable[[Admission, Cancelled], object]


@dataclass(slots=True)
class _Slot:
    current: Admission
    pending: Admission | None = None


class Slots:
    """The busy ids, each with at most one pending run. An idle id has no slot (J-ONE).

    `start`, `cancel` and `drop` are told what to do with an admission; they are called from whatever
    thread asked, must not block, and must not come back in here before they have returned.
    `void` says why an admission must not begin now, or None.
    """

    def __init__(
        self, *, start: Start, cancel: Cancel, drop: Drop, void: Callable[[Admission], Cancelled | None]
    ) -> None:
        self._start = start
        self._cancel = cancel
        self._drop = drop
        self._void = void
        self._busy: dict[str, _Slot] = {}
        self._lock = threading.Lock()
        self._open = True
        self._ended = asyncio.Event()
        self.idle = IdleSignal()

    @property
    def active(self) -> int:
        """How many ids are busy; a pending run adds nothing."""
        return len(self._busy)

    @property
    def closed(self) -> bool:
        """Whether nothing is admitted any more."""
        return not self._open

    def is_busy(self, job_id: str) -> bool:
        return job_id in self._busy

    @property
    def busy_ids(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._busy)

    def run_once(self, admission: Admission) -> bool:
        """Start it unless its id is busy; whether it started."""
        with self._lock:
            return self._admits(admission) and self._started(admission)

    def run_next(self, admission: Admission) -> bool:
        """Start it now, or after the current run in place of what waited; False if it may not begin."""
        with self._lock:
            if not self._admits(admission):
                return False
            if not self._started(admission):
                self._put_behind(self._busy[admission.job_id], admission, "a newer run took its place")
            return True

    def supersede(self, admission: Admission) -> bool:
        """Like run_next, but also cancel the current run, without waiting for its end."""
        with self._lock:
            if not self._admits(admission):
                return False
            if not self._started(admission):
                slot = self._busy[admission.job_id]
                self._put_behind(slot, admission, "a newer run supersedes it")
                self._cancel(slot.current, Superseded("a newer run of the same id"))
            return True

    def finished(self, admission: Admission) -> None:
        """The current run has ended: start what is pending, or free the id. On the loop's thread."""
        with self._lock:
            pending = self._busy.pop(admission.job_id).pending
            if pending is not None and self._begin_pending(pending):
                return
            if not self._busy:
                self.idle.give()
                self._tell_if_ended()

    def forget_pending(self, admission: Admission, cause: Cancelled) -> None:
        """Drop it if it is still pending: its token was cancelled."""
        with self._lock:
            slot = self._busy.get(admission.job_id)
            if slot is not None and slot.pending is admission:
                slot.pending = None
                self._drop(admission, cause)

    def close(self) -> tuple[str, ...]:
        """Admit nothing more, drop what is pending, cancel what runs; the ids still busy (X-STOP).

        On the loop's thread."""
        with self._lock:
            self._open = False
            for slot in self._busy.values():
                if slot.pending is not None:
                    self._drop(slot.pending, ShuttingDown("the scheduler stops"))
                    slot.pending = None
                self._cancel(slot.current, ShuttingDown("the scheduler stops"))
            self._tell_if_ended()
            return tuple(self._busy)

    async def ended(self) -> None:
        """Return when these slots are closed and none is busy any more."""
        await self._ended.wait()

    def _tell_if_ended(self) -> None:
        if not self._open and not self._busy:
            self._ended.set()

    def _admits(self, admission: Admission) -> bool:
        return self._open and self._void(admission) is None

    def _started(self, admission: Admission) -> bool:
        if admission.job_id in self._busy:
            return False
        self._busy[admission.job_id] = _Slot(admission)
        self._start(admission)
        return True

    def _put_behind(self, slot: _Slot, admission: Admission, why: str) -> None:
        if slot.pending is not None:
            self._drop(slot.pending, Superseded(why))
        slot.pending = admission

    def _begin_pending(self, pending: Admission) -> bool:
        cause = self._void(pending) if self._open else ShuttingDown("the scheduler stops")
        if cause is not None:
            self._drop(pending, cause)
            return False
        return self._started(pending)
