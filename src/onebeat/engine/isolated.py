"""Bodies in child processes, which can be killed (J-CANCEL)."""

from __future__ import annotations

from onebeat.clock import Timer
from onebeat.engine.admission import Admission
from onebeat.engine.child_process import ChildProcess
from onebeat.engine.child_words import Ending, Order
from onebeat.engine.here import Here
from onebeat.engine.job import Policy
from onebeat.engine.target import Target
from onebeat.engine.threads import Threads
from onebeat.errors import Cancelled, ChildFailed

KILLED_AFTER = 5.0
"""Seconds from being told to SIGKILL; less where the shutdown timeout or the lease's margin is short."""

_TERMINATED_AFTER = 0.4
"""Of that time: when SIGTERM is sent."""


class Children:
    """The child processes of this replica. A thread waits for each."""

    def __init__(self, here: Here, threads: Threads) -> None:
        self._clock = here.clock
        self._shutdown_timeout = here.settings.shutdown_timeout.total_seconds()
        self._threads = threads
        self._alive: set[ChildProcess] = set()

    async def call(self, admission: Admission) -> None:
        """Run the body to its end, or until it is killed for a cancellation it does not heed.

        Raises the run's cause, or ChildFailed for whatever else went wrong over there.
        """
        run = admission.run
        child = ChildProcess(_order(admission))
        timers: list[Timer] = []

        def stop() -> None:
            if run.cause is not None:
                child.tell(run.cause)
                patience = self._patience(admission.policy)
                timers.append(self._clock.call_later(patience * _TERMINATED_AFTER, child.terminate))
                timers.append(self._clock.call_later(patience, child.kill))

        run.when_cancelled(stop)
        stop()
        self._alive.add(child)
        try:
            ending = await self._threads.call(child.run)
        except ChildFailed as death:
            if run.cause is None:
                raise
            run.cause.add_note(str(death))
            raise run.cause from None  # that is why it died
        finally:
            run.when_cancelled(None)
            for timer in timers:
                timer.cancel()
            child.kill()  # nobody waits for it any more, should it still live
            self._alive.discard(child)
        _raise(ending, run.cause)

    def kill(self) -> None:
        """Nobody waits any longer."""
        for child in self._alive:
            child.kill()

    def _patience(self, policy: Policy) -> float:
        """So that what is killed at the stop is released in time, and what is killed at its timeout is gone
        before its lease."""
        return min(KILLED_AFTER, self._shutdown_timeout / 2, policy.lease_margin.total_seconds() / 2)


def _order(admission: Admission) -> Order:
    run, target = admission.run, Target.of(admission.body.work)
    return Order(
        module=target.module,
        name=target.name,
        job_id=run.job_id,
        run_id=run.run_id,
        replica=run.replica,
        scheduled_at=run.scheduled_at.isoformat() if run.scheduled_at else None,
        started_at=run.started_at.isoformat() if run.started_at else None,
        lateness=run.lateness,
        attempt=run.attempt,
        fence=run.fence,
        trace_id=run.trace_id,
        lease_left=run.lease_left,
    )


def _raise(ending: Ending, cause: Cancelled | None) -> None:
    """What the body raised, as far as it can be raised here."""
    if ending.kind is None:
        return
    raised: Exception | Cancelled | None = ending.cause
    if raised is None:
        raised = ChildFailed(f"{ending.kind}: {ending.text}" if ending.text else ending.kind, ending.kind)
    elif cause is not None and type(cause) is type(raised):
        raised = cause
    raised.add_note(f"in its child process:\n{ending.trace}")
    raise raised
