"""Log records of the store and of clocks that disagree with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from logging import DEBUG, ERROR, INFO, WARNING
from typing import Any

from onebeat.errors import ClaimFailure
from onebeat.events import (
    ClaimAnswered,
    ClaimStatementFailed,
    ClockAhead,
    ClockStepped,
    PermitsFailed,
    PruneFailed,
    ReleaseFailed,
    StoreRecovered,
    TickEnded,
    WatermarkAhead,
)
from onebeat.model import Outcome, Reason
from onebeat.observers.records import Records, counted, named

_SKEW_STEP = 1.0  # seconds by which a clock must have moved on to be news


class StoreLogs:
    """One ERROR with one traceback per failed statement; what is asked again is one WARNING per cause."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._ahead: ClockAhead | None = None
        self.speakers: dict[type[Any], Callable[[Any], None]] = {
            ClaimAnswered: self._claim_answered,
            ClaimStatementFailed: self._claim_failed,
            ReleaseFailed: self._release_failed,
            PermitsFailed: self._permits_failed,
            StoreRecovered: self._recovered,
            PruneFailed: self._prune_failed,
            ClockStepped: self._clock_stepped,
            ClockAhead: self._clock_ahead,
            TickEnded: self._tick_ended,
            WatermarkAhead: self._watermark_ahead,
        }

    def _claim_answered(self, event: ClaimAnswered) -> None:
        self._records.say(DEBUG, "claims: %d of %d won in %.3f s", event.won, event.bids, event.duration)

    def _claim_failed(self, event: ClaimStatementFailed) -> None:
        failure, count = event.error.failure, len(event.job_ids)
        if event.again:
            level, what, error = self._again_level("claim", failure), "asked again for", None
        else:
            level, what, error = ERROR, "it cost", event.error
        self._records.say(
            level,
            "claim failed after %.3f s (%s), %s %s: %s",
            event.duration,
            failure.value,
            what,
            counted(count, "tick"),
            named(event.job_ids),
            error=error,
            ticks=event.ticks,
            reason=failure.value,
            job=event.job_ids[0] if count == 1 else None,
        )

    def _again_level(self, statement: str, failure: ClaimFailure) -> int:
        # A conflict is the store at work: it is asked again at once, and costs nothing.
        if failure is ClaimFailure.CONFLICT:
            return DEBUG
        return self._records.once(WARNING, statement, failure)

    def _release_failed(self, event: ReleaseFailed) -> None:
        failure = event.error.failure.value
        self._records.say(
            ERROR,
            "release failed (%s), %s, of %s: %s",
            failure,
            "tried again until the lease ends" if event.again else "the lease will end it",
            counted(len(event.job_ids), "job"),
            named(event.job_ids),
            error=event.error,
            reason=failure,
            job=event.job_ids[0] if len(event.job_ids) == 1 else None,
        )

    def _permits_failed(self, event: PermitsFailed) -> None:
        self._records.say(
            WARNING,
            "the permits of limit %r can be neither taken nor given back (%s: %s): %s for one here",
            event.prefix,
            event.error.failure.value,
            event.error,
            f"{counted(event.waiting, 'run')} waiting",
            reason=event.error.failure.value,
        )

    def _recovered(self, event: StoreRecovered) -> None:
        for statement in ("claim", "prune"):
            self._records.over(statement)
        self._records.say(
            INFO,
            "the store answers again, after %s in %.1f s",
            counted(event.failures, "failure"),
            event.after,
        )

    def _prune_failed(self, event: PruneFailed) -> None:
        failure = event.error.failure
        self._records.say(
            self._again_level("prune", failure),
            "old ticks could not be pruned (%s: %s); tried again later",
            failure.value,
            event.error,
        )

    def _clock_stepped(self, event: ClockStepped) -> None:
        self._records.say(
            WARNING, "the wall clock was set back by %.1f s: those instants come again", event.seconds
        )

    def _clock_ahead(self, event: ClockAhead) -> None:
        tick, warned = event.tick, self._ahead
        if warned is None or abs(event.skew - warned.skew) >= _SKEW_STEP:
            level, self._ahead = WARNING, event
        else:
            level = DEBUG
            if tick.job_id == warned.tick.job_id:
                self._ahead = replace(event, skew=warned.skew)
        self._records.say(
            level,
            "job %r: tick %s came too early for the store: this clock leads the store's by %.3f s",
            tick.job_id,
            tick.scheduled_at.isoformat(),
            event.skew,
            job=tick.job_id,
            skew=event.skew,
            tick=tick,
        )

    def _tick_ended(self, event: TickEnded) -> None:
        """The clock is right again once a later tick of the job it was warned for is decided."""
        warned = self._ahead
        if warned is None or event.tick.job_id != warned.tick.job_id:
            return
        decided = event.outcome in (Outcome.RAN, Outcome.FAILED) or event.reason is Reason.CLAIMED
        if decided and event.tick.scheduled_at > warned.tick.scheduled_at:
            self._ahead = None

    def _watermark_ahead(self, event: WatermarkAhead) -> None:
        level = self._records.once(ERROR, ("watermark", event.job_id), event.watermark)
        self._records.say(
            level,
            "job %r: its newest tick, %s, lies %.0f s in the future: none runs until then; "
            "a clock was wrong once, see `onebeat repair`",
            event.job_id,
            event.watermark.isoformat(),
            event.ahead,
            job=event.job_id,
        )
