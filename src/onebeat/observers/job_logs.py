"""Log records of ticks and runs."""

from __future__ import annotations

from collections.abc import Callable
from logging import DEBUG, ERROR, INFO, WARNING
from typing import Any

from onebeat.errors import Cancelled, ShuttingDown, TimedOut
from onebeat.events import RunDropped, RunEnded, RunStarted, ScheduleFailed, TickEnded, TicksPassedOver
from onebeat.model import Outcome, Reason
from onebeat.observers.records import Records, counted, named
from onebeat.observers.turn import Turn

# What skips a tick by itself, tick after tick, until somebody does something about it.
_LASTING = {Reason.OVERLAPPED: WARNING, Reason.BUSY: WARNING, Reason.LATE: WARNING, Reason.PAUSED: INFO}


class JobLogs:
    """A failed run is one ERROR with its traceback, a tick another replica has is DEBUG.

    What keeps many ticks from running in one turn of the loop is one record for all of them.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        self._unrun: Turn[TickEnded] = Turn(self._sum_up_unrun)
        self._passed_over: Turn[TicksPassedOver] = Turn(self._sum_up_passed_over)
        self.speakers: dict[type[Any], Callable[[Any], None]] = {
            TickEnded: self._tick_ended,
            TicksPassedOver: self._ticks_passed_over,
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            RunDropped: self._run_dropped,
            ScheduleFailed: self._schedule_failed,
        }

    def _tick_ended(self, event: TickEnded) -> None:
        about = ("tick", event.tick.job_id)
        if event.outcome in (Outcome.RAN, Outcome.FAILED):
            self._records.over(about)  # its RunEnded has said the rest
            return
        level = _weight_unrun(event)
        if level > DEBUG and self._records.once(level, about, event.reason) == level:
            self._unrun.note(event)
            return
        if level == DEBUG:
            self._records.over(about)
        self._say_unrun(DEBUG, event)

    def _sum_up_unrun(self, events: list[TickEnded]) -> None:
        alike: dict[Reason | None, list[TickEnded]] = {}
        for event in events:
            alike.setdefault(event.reason, []).append(event)
        for same in alike.values():
            level = _weight_unrun(same[0])
            if len(same) == 1:
                self._say_unrun(level, same[0])
                continue
            for event in same:
                self._say_unrun(DEBUG, event)
            self._say_unrun_of_many(level, same)

    def _say_unrun(self, level: int, event: TickEnded) -> None:
        if not self._records.heard(level):
            return  # thousands of lost ticks at one instant should not even cost their words
        tick = event.tick
        self._records.say(
            level,
            "job %r: tick %s %s%s",
            tick.job_id,
            tick.scheduled_at.isoformat(),
            _ending(event),
            f" by {event.claimed_by!r}" if event.claimed_by else "",
            job=tick.job_id,
            outcome=event.outcome.value,
            reason=event.reason and event.reason.value,
            tick=tick,
        )

    def _say_unrun_of_many(self, level: int, same: list[TickEnded]) -> None:
        self._records.say(
            level,
            "%s %s, of %s",
            counted(len(same), "tick"),
            _ending(same[0]),
            named([event.tick.job_id for event in same]),
            outcome=same[0].outcome.value,
            reason=same[0].reason and same[0].reason.value,
            ticks=len(same),
        )

    def _ticks_passed_over(self, event: TicksPassedOver) -> None:
        self._passed_over.note(event)
        self._records.say(
            DEBUG,
            "job %r: %s passed over, up to %s",
            event.job_id,
            _count(event.count, event.exact),
            event.latest.isoformat(),
            job=event.job_id,
        )

    def _sum_up_passed_over(self, events: list[TicksPassedOver]) -> None:
        job_ids = [event.job_id for event in events]
        count = sum(event.count for event in events)
        self._records.say(
            WARNING,
            "late wake: %s passed over, of %s: %s",
            _count(count, all(event.exact for event in events)),
            counted(len(job_ids), "job"),
            named(job_ids),
            job=job_ids[0] if len(job_ids) == 1 else None,
            ticks=count,
        )

    def _run_started(self, event: RunStarted) -> None:
        self._records.say(
            DEBUG,
            "job %r: run %s started, %.3f s late, attempt %d",
            event.job_id,
            event.run_id,
            event.lateness,
            event.attempt,
            job=event.job_id,
            run=event.run_id,
            tick=event.tick,
        )

    def _run_ended(self, event: RunEnded) -> None:
        level, error = _weight(event)
        self._records.say(
            level,
            "job %r: run %s %s%s after %.3f s",
            event.job_id,
            event.run_id,
            event.outcome.value,
            f", {event.reason.value}," if event.reason else "",
            event.duration,
            error=error,
            job=event.job_id,
            run=event.run_id,
            outcome=event.outcome.value,
            reason=event.reason and event.reason.value,
            tick=event.tick,
        )

    def _run_dropped(self, event: RunDropped) -> None:
        # Superseding work is what its caller asked for; the other two are somebody's loss.
        level = {ShuttingDown: INFO, TimedOut: WARNING}.get(type(event.cause), DEBUG)
        cause = type(event.cause).__name__
        self._records.say(
            level, "job %r: dropped before it ran: %s", event.job_id, cause, job=event.job_id, cause=cause
        )

    def _schedule_failed(self, event: ScheduleFailed) -> None:
        self._records.say(
            ERROR,
            "job %r: its schedule failed, it has no more ticks",
            event.job_id,
            error=event.error,
            job=event.job_id,
        )


def _weight_unrun(event: TickEnded) -> int:
    if event.outcome is Outcome.CLAIM_ERROR:
        # With an error, ClaimStatementFailed has spoken already, once for all of its ticks.
        return ERROR if event.error is None else DEBUG
    return DEBUG if event.reason is None else _LASTING.get(event.reason, DEBUG)


def _weight(event: RunEnded) -> tuple[int, BaseException | None]:
    """How loud, and with which traceback. Being cancelled is no failure; failing while cancelled is."""
    if event.outcome is Outcome.RAN:
        return DEBUG, None
    if event.reason is not Reason.CANCELLED:
        return ERROR, event.error
    if isinstance(event.error, Exception) and not isinstance(event.error, Cancelled):
        return WARNING, event.error
    return INFO, None


def _ending(event: TickEnded) -> str:
    return f"{event.outcome.value}, {event.reason.value}" if event.reason else event.outcome.value


def _count(count: int, exact: bool) -> str:
    return counted(count, "tick") if exact else f"at least {counted(count, 'tick')}"
