"""One tick, or one piece of work on demand, from its start to its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from onebeat.clock import Timer
from onebeat.engine.admission import Admission
from onebeat.engine.here import Here
from onebeat.engine.isolated import Children
from onebeat.engine.limits import Limits
from onebeat.engine.tasks import runs_now
from onebeat.engine.threads import Threads
from onebeat.engine.transaction import Transactions
from onebeat.errors import Cancelled, LeaseLost, TimedOut
from onebeat.events import RunDropped, RunEnded, RunStarted, run_trace_id
from onebeat.model import Outcome, Reason


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run went, or why it was none."""

    outcome: Outcome
    reason: Reason | None = None
    error: BaseException | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class Attempt:
    """Runs a body once it may: permit, lateness, timeout, body, report. Never raises.

    `interrupt` is called when a body raises KeyboardInterrupt: that stops the scheduler in order.
    `transactions` is what transactional bodies run in, where the store has any.
    """

    def __init__(
        self,
        here: Here,
        threads: Threads,
        limits: Limits,
        interrupt: Callable[[], object],
        transactions: Transactions | None = None,
    ) -> None:
        self._clock = here.clock
        self._observe = here.observe
        self._limits = limits
        self._threads = threads
        self._interrupt = interrupt
        self._transactions = transactions
        self.children = Children(here, threads)

    async def run(self, admission: Admission) -> Ended:
        """How it went; on return the body has ended or never begun."""
        ended = await self._unless_cancelled(admission)
        if ended.outcome is Outcome.SKIPPED and admission.tick is None:
            self._observe(RunDropped(admission.job_id, admission.run.cause or Cancelled("cancelled")))
        return ended

    async def _unless_cancelled(self, admission: Admission) -> Ended:
        never_began = Ended(Outcome.SKIPPED, Reason.CANCELLED)
        if admission.run.cancelled:
            return never_began
        task = asyncio.current_task()
        assert task is not None  # narrows the type: a coroutine always runs in a task
        admission.run.when_cancelled(task.cancel)
        try:
            return await self._once_permitted(admission)
        except asyncio.CancelledError:
            return never_began
        finally:
            await _absorb_cancellation(admission, task)

    async def _once_permitted(self, admission: Admission) -> Ended:
        async with self._limits.permit(admission):
            if admission.on_loop:
                return await self._unless_too_late(admission)
            async with self._threads.permit():
                return await self._unless_too_late(admission)

    async def _unless_too_late(self, admission: Admission) -> Ended:
        now = self._clock.now()
        if (cause := admission.void(now)) is not None:
            admission.run.cancel(cause)
            return Ended(Outcome.SKIPPED, Reason.CANCELLED)
        if is_too_late(admission, now):
            return Ended(Outcome.SKIPPED, Reason.LATE)
        return await self._body(admission, now)

    async def _body(self, admission: Admission, now: datetime) -> Ended:
        run = admission.run
        run.started_at = now
        run.lateness = (now - run.tick.scheduled_at).total_seconds() if run.tick else 0.0
        run.enter()  # before anybody hears of it: observers may ask for the current run
        run_trace_id.set(None)
        self._observe(RunStarted(run.job_id, run.run_id, run.tick, now, run.lateness, run.attempt))
        run.trace_id = run_trace_id.get()
        began = self._clock.monotonic()
        error = await self._within_time(admission)
        duration = self._clock.monotonic() - began
        run.when_cancelled(None)
        ended = _judged(admission, error, now, now + timedelta(seconds=duration))
        # Of many runs that begin at one instant, all bodies begin before the first end is written up.
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        self._observe(
            RunEnded(
                run.job_id, run.run_id, run.tick, ended.outcome, ended.reason,
                ended.finished_at or now, duration, ended.error,
            )
        )  # fmt: skip
        return ended

    async def _within_time(self, admission: Admission) -> BaseException | None:
        """The body's own error, caught whatever it is: one bad run must not stop the schedule."""
        run = admission.run
        if not admission.on_loop:
            run.when_cancelled(None)  # a thread cannot be killed: it is told, and awaited
        task = asyncio.current_task()
        timer = self._timer(admission)
        try:
            await self._called(admission)
        except KeyboardInterrupt as error:
            self._interrupt()
            return error
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not runs_now(task):
                raise  # not the body's: the loop has been torn down around it
            return error
        finally:
            if timer is not None:
                timer.cancel()
        return None

    async def _called(self, admission: Admission) -> None:
        if self._transactions is not None and self._transactions.serve(admission):
            await self._transactions.call(admission, self._threads)
        elif admission.policy.isolation == "process":
            await self.children.call(admission)
        else:
            await admission.body.call(admission.run, self._threads)

    def _timer(self, admission: Admission) -> Timer | None:
        """The job timeout counts from here; a deadline of the caller's has replaced it (J-TIME)."""
        timeout = admission.policy.timeout
        if timeout is None or admission.deadline is not None:
            return None
        seconds = timeout.total_seconds()
        cause = TimedOut(f"not done within its timeout of {seconds:g} s")
        return self._clock.call_later(seconds, lambda: admission.run.cancel(cause))


def is_too_late(admission: Admission, now: datetime) -> bool:
    """Whether its tick's instant lies further back than the job wants to start it (W-TOO-LATE)."""
    late, tick = admission.policy.late, admission.tick
    if late is None or tick is None:
        return False
    return now - tick.scheduled_at > late + (admission.policy.jitter or timedelta(0))


def _judged(
    admission: Admission, error: BaseException | None, started_at: datetime, finished_at: datetime
) -> Ended:
    """A run cancelled before its body ended counts as cancelled, however the body ended; one that met a
    lost claim by itself, as lost."""
    cause = admission.run.cause or (error if isinstance(error, LeaseLost) else None)
    if cause is None:
        outcome = Outcome.RAN if error is None else Outcome.FAILED
        return Ended(outcome, None, error, started_at, finished_at)
    reason = _REASONS.get(type(cause), Reason.CANCELLED)
    own_error = error is not None and not isinstance(error, asyncio.CancelledError)
    return Ended(Outcome.FAILED, reason, error if own_error else cause, started_at, finished_at)


_REASONS: dict[type[Cancelled], Reason] = {TimedOut: Reason.TIMED_OUT, LeaseLost: Reason.LOST}


async def _absorb_cancellation(admission: Admission, task: asyncio.Task[object]) -> None:
    """Let a cancellation that the body has not met end here, so that none hits the release (C-RELEASE)."""
    admission.run.when_cancelled(None)
    if admission.run.cause is not None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
    while task.cancelling():
        task.uncancel()
