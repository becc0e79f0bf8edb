"""Claims given back: what ended at the same time goes in one statement, what failed is tried again."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from onebeat.claims import ClaimStore
from onebeat.engine.backoff import pause_before
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.pile import Pile, halves
from onebeat.engine.recovery import Recovery
from onebeat.engine.tasks import Tasks
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import ReleaseFailed
from onebeat.fleet import Held
from onebeat.model import Release

_MOST_RELEASES = 1_000
_WORTH_TELLING = timedelta(hours=1)
"""For how long a release is tried again at least: the lease may have ended, but the tick has no verdict."""

_OF_LATE = timedelta(minutes=2).total_seconds()
_MOST_RECENT = 10_000


@dataclass(slots=True, eq=False)
class _Due:
    """A release to be made, worth trying until `until` (monotonic seconds)."""

    release: Release
    lease: timedelta | None
    until: float
    settled: asyncio.Future[None]
    tries: int = 0
    reported: bool = False


class Releases:
    """Ends claims. A release that fails is one ReleaseFailed, then retried in the background (C-RELEASE)."""

    def __init__(self, store: ClaimStore, here: Here, recovery: Recovery) -> None:
        self._store = store
        self._here = here
        self._clock = here.clock
        self._observe = here.observe
        self._recovery = recovery
        self._timeout = here.settings.claim_timeout.total_seconds()
        self._pile: Pile[_Due] = Pile(self._send, most=_MOST_RELEASES)
        self._retries = Tasks()
        self._owed: dict[str, _Due] = {}
        self._told: deque[tuple[float, _Due]] = deque(maxlen=_MOST_RECENT)
        self._abandoned = False

    async def release(self, release: Release, lease: timedelta | None) -> None:
        """Return when it is released, has failed, or the claim timeout has passed; never raises."""
        settled = self.release_later(release, lease)
        timer = self._clock.call_later(self._timeout, lambda: _settle(settled))
        try:
            await settled
        finally:
            timer.cancel()

    def release_later(self, release: Release, lease: timedelta | None) -> asyncio.Future[None]:
        """Hand it in, to be released in the background."""
        until = self._clock.monotonic() + max(lease or _WORTH_TELLING, _WORTH_TELLING).total_seconds()
        due = self._owed[release.token] = _Due(
            release, lease, until, asyncio.get_running_loop().create_future()
        )
        self._pile.add(due)
        return due.settled

    def owed(self) -> list[Held]:
        """The claims whose end the store has not been told yet. From any thread; whoever asks for these, and
        for the recent ones then, misses none that goes from here to there."""
        owed = list(self._owed.values())
        return [Held(due.release.tick, due.release.token, due.lease) for due in owed]

    def recent(self) -> dict[str, tuple[Release, timedelta | None]]:
        """What the store was told within the last two minutes, by token: releases and leases. From any
        thread."""
        since = self._clock.monotonic() - _OF_LATE
        told = self._told.copy()
        return {due.release.token: (due.release, due.lease) for at, due in told if at >= since}

    async def closed(self) -> None:
        """Return when everything is released or has become pointless."""
        await self._pile.emptied()
        while self._retries.any_left:
            await self._retries.ended()
            await self._pile.emptied()

    async def last_try(self) -> None:
        """Return when what was handed in has been tried once; from now on nothing is tried again."""
        self._abandoned = True
        self._retries.cancel()
        await self._pile.emptied()

    def abandon(self) -> None:
        """Send nothing more: the leases will end by themselves."""
        self._abandoned = True
        self._pile.abandon()

    async def _send(self, batch: list[_Due]) -> None:
        if self._here.is_copy:
            return
        ends = [due.release for due in batch]
        try:
            await bounded(
                partial(self._store.release, ends, replica=self._here.replica), self._timeout, self._clock
            )
        except ClaimFailed as error:
            self._recovery.failed("release", error.failure)
            await self._failed(batch, error)
        else:
            self._recovery.answered("release")
            for due in batch:
                self._done(due)

    def _done(self, due: _Due) -> None:
        self._told.append((self._clock.monotonic(), due))
        self._owed.pop(due.release.token, None)
        _settle(due.settled)

    async def _failed(self, batch: list[_Due], error: ClaimFailed) -> None:
        if error.failure is ClaimFailure.REFUSED and len(batch) > 1:
            for half in halves(batch):
                await self._send(half)
        elif error.failure is ClaimFailure.CONFLICT and not self._abandoned:
            self._try_again(batch, error)
        else:
            again = error.failure is not ClaimFailure.REFUSED and not self._abandoned
            self._report(batch, error, again)
            for due in batch:
                _settle(due.settled) if again else self._done(due)
            if again:
                self._try_again(batch, error)

    def _report(self, batch: list[_Due], error: ClaimFailed, again: bool) -> None:
        unreported = [due for due in batch if not due.reported]
        if unreported:
            job_ids = tuple(due.release.tick.job_id for due in unreported)
            self._observe(ReleaseFailed(error, job_ids, again))
        for due in unreported:
            due.reported = True

    def _try_again(self, batch: list[_Due], error: ClaimFailed) -> None:
        self._retries.spawn(self._retry(batch, error.failure))

    async def _retry(self, batch: list[_Due], failure: ClaimFailure) -> None:
        for due in batch:
            due.tries += 1
        await self._clock.sleep(pause_before(batch[0].tries, failure, random.random()))
        now = self._clock.monotonic()
        for due in batch:
            if due.until > now:
                self._pile.add(due)
            else:
                self._done(due)


def _settle(settled: asyncio.Future[None]) -> None:
    if not settled.done():
        settled.set_result(None)
