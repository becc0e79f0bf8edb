"""What happens to an admission: its tick is claimed, its body run, its claim released, its end reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from onebeat.clock import Timer
from onebeat.engine.admission import Admission
from onebeat.engine.attempt import Attempt, Ended, is_too_late
from onebeat.engine.desk import Desk
from onebeat.engine.here import Here
from onebeat.engine.releases import Releases
from onebeat.engine.tasks import Tasks
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import ClockAhead, TickEnded
from onebeat.model import Answer, Bid, Outcome, Reason, Release, Ruling, Tick, Verdict

_LONGEST_ERROR = 2_000
_CLAIM_REASONS = {
    ClaimFailure.UNAVAILABLE: Reason.UNAVAILABLE,
    ClaimFailure.CONFLICT: Reason.UNAVAILABLE,
    ClaimFailure.TIMEOUT: Reason.TIMEOUT,
    ClaimFailure.REFUSED: Reason.REFUSED,
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


class Runs:
    """Takes each admission from its slot to its end. `finished` frees the slot; `postpone` bids anew for
    a tick, in so many seconds.

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
        postpone: Callable[[Tick, float], object],
    ) -> None:
        self._clock = here.clock
        self._observe = here.observe
        self._attempt = attempt
        self._desk = desk
        self._releases = releases
        self._finished = finished
        self._postpone = postpone
        self._tasks = Tasks()

    def start(self, admission: Admission) -> None:
        """Begin what a slot has just been given to. On the loop's thread."""
        if admission.claims and admission.tick is not None and self._desk is not None:
            self._claim(admission, admission.tick, self._desk)
        else:
            self._spawn(admission, None)

    def _claim(self, admission: Admission, tick: Tick, desk: Desk) -> None:
        if is_too_late(admission, self._clock.now()):
            self._skip(admission, Reason.LATE)
            return
        bid = Bid(tick, admission.run.run_id, admission.policy.claim_lease)
        asked = desk.claim(bid, partial(self._answered, admission, bid))
        admission.run.when_cancelled(asked.cancel)

    def _answered(self, admission: Admission, bid: Bid, answer: Answer | ClaimFailed) -> None:
        if isinstance(answer, ClaimFailed):
            self._undecided(admission, answer)
        elif answer.won:
            admission.run.fence, admission.run.attempt = answer.fence, answer.attempt
            self._spawn(admission, bid)
        elif admission.run.cause is not None:
            self._skip(admission, Reason.CANCELLED)
        elif answer.ruling is Ruling.EARLY:
            self._refused_as_early(admission, bid.tick, answer)
        elif answer.ruling is Ruling.EXPIRED:
            self._end_claim_error(admission, Reason.TIMEOUT, None)
        else:
            self._lost(admission, answer)

    def _undecided(self, admission: Admission, error: ClaimFailed) -> None:
        if admission.run.cause is not None:
            self._skip(admission, Reason.CANCELLED)
        else:
            self._end_claim_error(admission, _CLAIM_REASONS[error.failure], error)

    def _lost(self, admission: Admission, answer: Answer) -> None:
        reason = Reason.OVERLAPPED if answer.ruling is Ruling.OVERLAPPED else Reason.CLAIMED
        self._skip(admission, reason, claimed_by=answer.claimed_by)

    def _refused_as_early(self, admission: Admission, tick: Tick, answer: Answer) -> None:
        """Bid again, once, when the store's clock gets there: a lone fast replica still runs it, on time."""
        if admission.asked_early:
            self._end_claim_error(admission, Reason.REFUSED, None)
            return
        ahead = (tick.scheduled_at - answer.store_time).total_seconds()
        skew = (self._clock.now() - answer.store_time).total_seconds()
        self._observe(ClockAhead(tick, skew))
        self._postpone(tick, max(ahead, 0.0))
        self._finished(admission)

    def _spawn(self, admission: Admission, bid: Bid | None) -> None:
        self._tasks.spawn(self._run(admission, bid), context=admission.context)

    async def _run(self, admission: Admission, bid: Bid | None) -> None:
        timer = self._deadline_timer(admission)
        ended = await self._attempt.run(admission)
        if timer is not None:
            timer.cancel()
        admission.unwatch()
        if bid is not None and self._releases is not None:
            # An app may cancel every task of its loop: the release goes on, and the id must become free.
            with suppress(asyncio.CancelledError):
                await self._releases.release(_release(bid, ended), bid.lease)
        self._end(admission, ended)
        self._finished(admission)

    def _deadline_timer(self, admission: Admission) -> Timer | None:
        """Cancels the run at its caller's deadline, whether it waits or runs by then."""
        if admission.deadline is None:
            return None
        seconds = (admission.deadline - self._clock.now()).total_seconds()
        return self._clock.call_later(seconds, lambda: admission.run.cancel(admission.overdue()))

    def _skip(self, admission: Admission, reason: Reason, claimed_by: str | None = None) -> None:
        self._end(admission, Ended(Outcome.SKIPPED, reason), claimed_by)
        self._finished(admission)

    def _end_claim_error(self, admission: Admission, reason: Reason, error: ClaimFailed | None) -> None:
        self._end(admission, Ended(Outcome.CLAIM_ERROR, reason, error))
        self._finished(admission)

    def _end(self, admission: Admission, ended: Ended, claimed_by: str | None = None) -> None:
        tick = admission.tick
        if tick is None:
            return
        decided_at = ended.started_at or self._clock.now()
        delay = (decided_at - tick.scheduled_at).total_seconds()
        self._observe(TickEnded(tick, ended.outcome, ended.reason, delay, ended.error, claimed_by))


def _release(bid: Bid, ended: Ended) -> Release:
    verdict = _VERDICTS[ended.outcome, ended.reason]
    error = None if ended.error is None else bounded_text(ended.error)
    return Release(bid.tick, bid.token, verdict, ended.started_at, ended.finished_at, error)


def bounded_text(error: BaseException) -> str:
    """*error* in one bounded piece of text that any database takes: no NUL, no lone surrogate."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception as unprintable:  # an exception of a user's job may fail even to be printed
        text = f"{type(error).__name__} (its text raised {type(unprintable).__name__})"
    clean = text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")
    return clean[:_LONGEST_ERROR]
