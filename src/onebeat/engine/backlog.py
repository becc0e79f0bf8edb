"""Ticks that a job still owes, oldest first: to be caught up, queued behind a run, or ordered by somebody."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from datetime import datetime

from onebeat.engine.due import Due
from onebeat.engine.job import Policy
from onebeat.model import Reason, Tick

Drop = Callable[[Tick, Reason], object]

_UNDECIDED = (Reason.UNAVAILABLE, Reason.TIMEOUT)
_HELD_UP = (Reason.BUSY, Reason.OVERLAPPED)


class Backlog:
    """What each job owes, one of which is asked for at a time. On the loop's thread.

    A job that catches up on all takes every tick through here while it owes an older one: nobody bids for a
    newer one before (C-CATCH). A queue, or the latest to be caught up on, is a backlog of one.
    `drop` is told of each tick that is given up, and why.
    """

    def __init__(self, drop: Drop) -> None:
        self._drop = drop
        self._owed: dict[str, list[Due]] = {}
        self._ordered: dict[str, list[Due]] = {}

    def owe(self, job_id: str, policy: Policy, instants: Iterable[datetime]) -> None:
        """These are owed: found so after a start, a late wake or an outage."""
        for instant in instants:
            self._keep(Due(Tick(job_id, instant)), policy, Reason.PASSED_OVER)

    def queues(self, due: Due, policy: Policy) -> bool:
        """Whether *due* now waits behind older ticks of its job."""
        waits = policy.catch_up == "all" and due.tick.job_id in self._owed and not due.ordered
        if waits:
            self._keep(due, policy, Reason.PASSED_OVER)
        return waits

    def keeps(self, due: Due, policy: Policy, reason: Reason) -> bool:
        """Whether *due*, refused for *reason*, stays owed; else it is settled."""
        if due.ordered:
            return reason in _UNDECIDED or reason in _HELD_UP
        keeps = _stays_owed(policy, reason)
        if keeps:
            self._keep(due, policy, reason)
        else:
            self.settle(due)
        return keeps

    def settle(self, due: Due) -> None:
        """*due* is won, or nobody's business any more."""
        for waiting in (self._owed, self._ordered):
            left = [other for other in waiting.get(due.tick.job_id, ()) if other.tick != due.tick]
            if left:
                waiting[due.tick.job_id] = left
            else:
                waiting.pop(due.tick.job_id, None)

    def order(self, dues: Iterable[Due]) -> None:
        """These are all the ticks that somebody asks for now, in place of those before."""
        self._ordered = {}
        for due in sorted(dues, key=lambda due: due.tick):
            self._ordered.setdefault(due.tick.job_id, []).append(due)

    def next(self, job_id: str) -> Due | None:
        """What the job is to ask for next: a tick ordered before any owed."""
        for waiting in (self._ordered, self._owed):
            if job_id in waiting:
                return waiting[job_id][0]
        return None

    @property
    def job_ids(self) -> tuple[str, ...]:
        """The jobs that have anything to ask for."""
        return tuple(dict.fromkeys((*self._ordered, *self._owed)))

    def forget(self, job_id: str | None = None) -> None:
        """Give up all that the job owes; without one, all that any does."""
        gone = [job_id] if job_id is not None else list(self._owed)
        self._ordered.clear() if job_id is None else self._ordered.pop(job_id, None)
        for name in gone:
            for due in self._owed.pop(name, ()):
                self._drop(due.tick, Reason.CANCELLED)

    def _keep(self, due: Due, policy: Policy, reason: Reason) -> None:
        owed = self._owed.setdefault(due.tick.job_id, [])
        if all(other.tick != due.tick for other in owed):
            insort(owed, due, key=lambda due: due.tick)
        most = policy.catch_up_limit if policy.catch_up == "all" else 1
        while len(owed) > most:
            self._drop(owed.pop(0).tick, reason)


def _stays_owed(policy: Policy, reason: Reason) -> bool:
    if policy.catch_up == "all":
        return reason in _UNDECIDED or reason in _HELD_UP
    if reason in _UNDECIDED:
        return policy.catch_up == "latest"
    return reason in _HELD_UP and policy.overlap == "queue"
