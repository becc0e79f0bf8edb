"""What happens to an admission: its tick is claimed, its body run, its claim released, its end reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from onebeat.clock import Timer
from onebeat.engine.admission import Admission
from onebeat.engine.attempt import Attempt, Ended, is_too_late
from onebeat.engine.desk import Desk
from onebeat.engine.due import Due
from onebeat.engine.error_text import bounded_text
from onebeat.engine.held import HeldClaims
from onebeat.engine.here import Here
from onebeat.engine.releases import Releases
from onebeat.engine.run import Run
from onebeat.engine.tasks import Tasks
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import ClockAhead, TickEnded
from onebeat.model import Answer, Bid, Outcome, Reason, Release, Ruling, Verdict

_CLAIM_REASONS = {
    ClaimFailure.UNAVAILABLE: Reason.UNAVAILABLE,
    ClaimFailure.CONFLICT: Reason.UNAVAILABLE,
    ClaimFailure.TIMEOUT: Reason.TIMEOUT,
    ClaimFailure.REFUSED: Reason.REFUSED,
}
_CLAIM_ERRORS = (Reason.UNAVAILABLE, Reason.TIMEOUT, Reason.REFUSED)
_REFUSALS = {
    Ruling.CLAIMED: Reason.CLAIMED,
    Ruling.OVERLAPPED: Reason.OVERLAPPED,
    Ruling.PAUSED: Reason.PAUSED,
}
_VERDICTS = {
    (Outcome.RAN, None): Verdict.RAN,
    (Outcome.FAILED, None): Verdict.FAILED,
    (Outcome.FAILED, Reason.TIMED_OUT): Verdict.TIMED_OUT,
    (Outcome.FAILED, Reason.CANCELLED): Verdict.CANCELLED,
    (Outcome.FAILED, Reason.LOST): Verdict.LOST,
    (Outcome.SKIPPED, Reason.CANCELLED): Verdict.CANCELLED,
    (Outcome.SKIPPED, Reason.LATE): Verdict.MISSED,
}


@dataclass(frozen=True, slots=True)
class Won:
    """A bid that was won, what lies missed before its tick, and whether that accounts for the job so far."""

    bid: Bid
    missed: tuple[datetime, ...]
    accounts: bool


class Refuse(Protocol):
    """What becomes of a due that was not won: whether it stays owed, so that nothing is told of it yet."""

    def __call__(self, admission: Admission, due: Due, reason: Reason) -> bool: ...


class Runs:
    """Takes each admission from its slot to its end. `finished` frees the slot; `won` and `refused` hear
    how a bid went; `postpone` bids anew for a due, in so many seconds.

    A task is made for a run, not for a bid: most bids lose.
    """

    def __init__(
        self,
        here: Here,
        *,
        attempt: Attempt,
        desk: Desk | None,
        releases: Releases | None,
        finished: Callable[[Admission], object],
        won: Callable[[Admission, Due, Answer], tuple[datetime, ...]],
        refused: Refuse,
        postpone: Callable[[Due, float], object],
    ) -> None:
        self._here = here
        self._clock = here.clock
        self._observe = here.observe
        self._attempt = attempt
        self._desk = desk
        self._releases = releases
        self._finished = finished
        self._won = won
        self._refused = refused
        self._postpone = postpone
        self._tasks = Tasks()
        self._held = HeldClaims()

    def start(self, admission: Admission) -> None:
        """Begin what a slot has just been given to. On the loop's thread."""
        if admission.due is not None and self._desk is not None:
            self._claim(admission, admission.due, self._desk)
        else:
            self._spawn(admission, None)

    @property
    def held(self) -> HeldClaims:
        """The claims that runs here live under."""
        return self._held

    def _claim(self, admission: Admission, due: Due, desk: Desk) -> None:
        if is_too_late(admission, self._clock.now()):
            self._refuse(admission, due, Reason.LATE)
            return
        policy = admission.policy
        bid = Bid(
            due.tick,
            admission.run.run_id,
            None if due.forced else policy.claim_lease,
            due.attempt,
            rerun=policy.on_lost == "rerun" and not due.triggered,
            triggered=due.triggered,
        )
        if bid.lease is not None:
            admission.run.begin_lease(bid.lease, self._clock.monotonic)
        asked = desk.claim(bid, partial(self._answered, admission, due, bid))
        admission.run.when_cancelled(asked.cancel)

    def _answered(self, admission: Admission, due: Due, bid: Bid, answer: Answer | ClaimFailed) -> None:
        if isinstance(answer, ClaimFailed):
            self._undecided(admission, due, answer)
        elif answer.won:
            self._run_won(admission, due, bid, answer)
        elif admission.run.cause is not None:
            self._refuse(admission, due, Reason.CANCELLED)
        elif answer.ruling is Ruling.EARLY:
            self._refused_as_early(admission, due, answer)
        elif answer.ruling is Ruling.EXPIRED:
            self._refuse(admission, due, Reason.TIMEOUT)
        else:
            self._refuse(admission, due, _REFUSALS[answer.ruling], claimed_by=answer.claimed_by)

    def _run_won(self, admission: Admission, due: Due, bid: Bid, answer: Answer) -> None:
        # First of all: the heart may take another identity at any moment, and asserts what it finds there.
        self._held.take(admission, bid)
        if not self._here.made(bid.token) and self._releases is not None:
            # Won by an identity that was declared dead while it asked: that claim blocks nobody.
            self._held.give_back(bid)
            self._releases.release_later(Release(bid.tick, bid.token, Verdict.LOST), bid.lease)
            self._refuse(admission, due, Reason.CANCELLED)
            return
        admission.run.fence, admission.run.attempt = answer.fence, answer.attempt
        missed = self._won(admission, due, answer)
        self._spawn(admission, Won(bid, missed, accounts=not due.ordered))

    def _undecided(self, admission: Admission, due: Due, error: ClaimFailed) -> None:
        if admission.run.cause is not None:
            self._refuse(admission, due, Reason.CANCELLED)
        else:
            self._refuse(admission, due, _CLAIM_REASONS[error.failure], error)

    def _refused_as_early(self, admission: Admission, due: Due, answer: Answer) -> None:
        """Bid again, once, when the store's clock gets there: a lone fast replica still runs it, on time."""
        if due.asked_early:
            self._refuse(admission, due, Reason.REFUSED)
            return
        ahead = (due.tick.scheduled_at - answer.store_time).total_seconds()
        skew = (self._clock.now() - answer.store_time).total_seconds()
        self._observe(ClockAhead(due.tick, skew))
        self._postpone(replace(due, asked_early=True), max(ahead, 0.0))
        self._finished(admission)

    def _refuse(
        self,
        admission: Admission,
        due: Due,
        reason: Reason,
        error: ClaimFailed | None = None,
        claimed_by: str | None = None,
    ) -> None:
        """Not run, or not now: told of unless the job still owes it."""
        if not self._refused(admission, due, reason):
            outcome = Outcome.CLAIM_ERROR if reason in _CLAIM_ERRORS else Outcome.SKIPPED
            self._end(admission, Ended(outcome, reason, error), claimed_by)
        self._finished(admission)

    def _spawn(self, admission: Admission, won: Won | None) -> None:
        self._tasks.spawn(self._run(admission, won), context=admission.context)

    async def _run(self, admission: Admission, won: Won | None) -> None:
        timer = self._deadline_timer(admission)
        ended = await self._attempt.run(admission)
        if timer is not None:
            timer.cancel()
        admission.unwatch()
        if won is not None and self._releases is not None:
            release = _release(won, admission.run, ended)
            # An app may cancel every task of its loop: the release goes on, and the id must become free.
            with suppress(asyncio.CancelledError):
                await self._releases.release(release, won.bid.lease)
            self._held.give_back(won.bid)
        self._end(admission, ended)
        self._finished(admission)

    def _deadline_timer(self, admission: Admission) -> Timer | None:
        """Cancels the run at its caller's deadline, whether it waits or runs by then."""
        if admission.deadline is None:
            return None
        seconds = (admission.deadline - self._clock.now()).total_seconds()
        return self._clock.call_later(seconds, lambda: admission.run.cancel(admission.overdue()))

    def _end(self, admission: Admission, ended: Ended, claimed_by: str | None = None) -> None:
        tick = admission.tick
        if tick is None:
            return
        decided_at = ended.started_at or self._clock.now()
        delay = (decided_at - tick.scheduled_at).total_seconds()
        self._observe(TickEnded(tick, ended.outcome, ended.reason, delay, ended.error, claimed_by))


def _release(won: Won, run: Run, ended: Ended) -> Release:
    return Release(
        won.bid.tick,
        won.bid.token,
        _VERDICTS[ended.outcome, ended.reason],
        ended.started_at,
        ended.finished_at,
        None if ended.error is None else bounded_text(ended.error),
        run.trace_id,
        won.missed,
        won.accounts,
    )
