"""Where bids are handed in: those of one moment go to the store in one statement."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from onebeat.claims import ClaimStore
from onebeat.engine.backoff import pause_before
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.pile import Pile, halves
from onebeat.engine.recovery import Recovery
from onebeat.engine.releases import Releases
from onebeat.engine.tasks import Tasks, until_either
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import ClaimAnswered, ClaimStatementFailed, StoreRecovered, WatermarkAhead
from onebeat.model import Answer, Bid, Release, Verdict

Answered = Callable[[Answer | ClaimFailed], object]
_MOST_BIDS = 1_000


@dataclass(slots=True, eq=False)
class Asked:
    """A bid handed in. `answered` is called exactly once, with the answer or with why there is none.

    `may_have_landed`: it was sent, and the store has not said that it is not ours.
    """

    bid: Bid
    answered: Answered
    since: float
    cancelled: bool = False
    done: bool = False
    may_have_landed: bool = False
    error: ClaimFailed | None = None

    def cancel(self) -> None:
        """Its body will not run, whatever the answer: the statement itself goes on (C-CANCEL)."""
        self.cancelled = True

    def answer(self, answer: Answer | ClaimFailed) -> None:
        self.done = True
        self.answered(answer)


class Desk:
    """Asks the store, one statement at a time, and asks again what failed with the same tokens.

    Every bid is answered within the claim timeout of being handed in (C-ERROR). A statement still out by
    then is awaited for as long again, not cancelled: it may have landed. What is won too late is released
    without a run.
    """

    def __init__(self, store: ClaimStore, here: Here, releases: Releases, recovery: Recovery) -> None:
        self._store = store
        self._here = here
        self._clock = here.clock
        self._observe = here.observe
        self._timeout = here.settings.claim_timeout
        self._releases = releases
        self._recovery = recovery
        self._pile: Pile[Asked] = Pile(self._send, most=_MOST_BIDS)
        self._arriving: list[Asked] = []
        self._statements = Tasks()
        self._given_up = asyncio.Event()
        self._failures = 0
        self._failing_since = 0.0

    def claim(self, bid: Bid, answered: Answered) -> Asked:
        """Hand *bid* in. On the loop's thread."""
        asked = Asked(bid, answered, self._clock.monotonic())
        if not self._arriving:
            asyncio.get_running_loop().call_soon(self._arrived)
        self._arriving.append(asked)
        return asked

    async def closed(self) -> None:
        """Return when no statement is out any more."""
        await self._pile.emptied()
        await self._statements.ended()

    def abandon(self) -> None:
        """Ask nothing more; what may have landed all the same is handed in to be released."""
        self._pile.abandon()
        self._statements.cancel()

    def _arrived(self) -> None:
        """What came in one turn of the loop times out together, and costs one record if it does."""
        group, self._arriving = self._arriving, []
        self._clock.call_later(self._timeout.total_seconds(), lambda: self._time_out(group))
        for asked in group:
            self._pile.add(asked)

    async def _send(self, batch: list[Asked]) -> None:
        """Return when the next statement may go: this one has answered, or all its bids were given up."""
        if self._here.is_copy:
            return
        statement = self._statements.spawn(self._ask(batch))
        while not statement.done() and not all(asked.done for asked in batch):
            self._given_up.clear()
            await until_either(self._given_up.wait(), statement)

    async def _ask(self, batch: list[Asked]) -> None:
        """Ask, and leave no claim behind, not even when abandoned in the middle."""
        with suppress(asyncio.CancelledError):
            await self._ask_until_answered(batch)
        self._take_back([asked for asked in batch if asked.may_have_landed])

    async def _ask_until_answered(self, batch: list[Asked]) -> None:
        """Until each bid has its answer or has run out of time."""
        retry = 0
        while waiting := [asked for asked in batch if not asked.done]:
            try:
                answers = await self._statement(waiting)
            except ClaimFailed as error:
                if error.failure is ClaimFailure.REFUSED:
                    await self._halve(waiting, error)
                    break
                retry += 1
                await self._clock.sleep(pause_before(retry, error.failure, random.random()))
            else:
                self._deliver(waiting, answers)

    async def _statement(self, waiting: Sequence[Asked]) -> Sequence[Answer]:
        began = self._clock.monotonic()
        for asked in waiting:
            asked.may_have_landed = True
        bids = [asked.bid for asked in waiting]
        try:
            answers = await bounded(
                partial(self._answers, bids), 2 * self._timeout.total_seconds(), self._clock
            )
        except ClaimFailed as error:
            self._failed(waiting, error, self._clock.monotonic() - began)
            raise
        won = sum(answer.won for answer in answers)
        self._observe(ClaimAnswered(len(bids), won, self._clock.monotonic() - began))
        self._recovered()
        self._recovery.answered("claim")
        return answers

    async def _answers(self, bids: Sequence[Bid]) -> Sequence[Answer]:
        answers = await self._store.claim(bids, replica=self._here.replica, timeout=self._timeout)
        if [answer.token for answer in answers] != [bid.token for bid in bids]:
            raise ClaimFailed("the store has not given each bid its own answer, in their order")
        return answers

    def _deliver(self, waiting: Sequence[Asked], answers: Sequence[Answer]) -> None:
        for asked, answer in zip(waiting, answers, strict=True):
            # Given up while the statement was out: what it won all the same is taken back.
            asked.may_have_landed = asked.done and answer.won
            self._mind_watermark(answer)
            if not asked.done:
                asked.answer(answer)

    def _mind_watermark(self, answer: Answer) -> None:
        """A clock was wrong once: the job's ticks are refused until the store's gets there (C-EARLY)."""
        if answer.won or answer.watermark is None:
            return
        ahead = answer.watermark - answer.store_time
        if ahead > self._store.tolerance:
            event = WatermarkAhead(answer.tick.job_id, answer.watermark, ahead.total_seconds())
            self._observe(event)

    async def _halve(self, waiting: list[Asked], error: ClaimFailed) -> None:
        """One bad bid fails alone: the rest of its statement is asked again in halves (C-BATCH)."""
        if len(waiting) == 1:
            self._give_up(waiting, error)
            return
        for half in halves(waiting):
            await self._ask_until_answered(half)

    def _failed(self, waiting: Sequence[Asked], error: ClaimFailed, duration: float) -> None:
        rolled_back = error.failure in (ClaimFailure.CONFLICT, ClaimFailure.REFUSED)
        for asked in waiting:
            asked.error = error
            asked.may_have_landed = not rolled_back
        if rolled_back:
            return
        self._recovery.failed("claim", error.failure)
        if not self._failures:
            self._failing_since = self._clock.monotonic() - duration
        self._failures += 1
        job_ids = tuple(asked.bid.tick.job_id for asked in waiting if not asked.done)
        if job_ids:
            self._observe(ClaimStatementFailed(error, job_ids, again=True, duration=duration))

    def _recovered(self) -> None:
        if self._failures:
            after = self._clock.monotonic() - self._failing_since
            self._observe(StoreRecovered(self._failures, after))
            self._failures = 0

    def _time_out(self, group: Sequence[Asked]) -> None:
        late = [asked for asked in group if not asked.done]
        if late:
            message = f"no answer within the claim timeout of {self._timeout.total_seconds():g} s"
            no_answer = ClaimFailed(message, ClaimFailure.TIMEOUT)
            self._give_up(late, next((asked.error for asked in late if asked.error), no_answer))

    def _give_up(self, late: Sequence[Asked], error: ClaimFailed) -> None:
        job_ids = tuple(asked.bid.tick.job_id for asked in late if not asked.cancelled)
        if job_ids:
            duration = self._clock.monotonic() - late[0].since
            self._observe(ClaimStatementFailed(error, job_ids, again=False, duration=duration))
        for asked in late:
            asked.answer(error)
        self._given_up.set()

    def _take_back(self, undecided: Sequence[Asked]) -> None:
        for asked in undecided:
            asked.may_have_landed = False
            release = Release(asked.bid.tick, asked.bid.token, Verdict.CLAIM_ERROR)
            self._releases.release_later(release, asked.bid.lease)
