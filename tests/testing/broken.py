"""Stores broken on purpose, one rule each: what the simulated fleet must be able to find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from onebeat.model import Answer, Bid, Release, Replica, Ruling, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock


class Broken(MemoryStore):
    """Made as a fleet makes its store: sound as it stands, each store below breaks one thing."""

    def __init__(self, clock: FakeClock, **options: Any) -> None:
        super().__init__(clock=clock, **options)


class LocksByName(Broken):
    """A lock with the job's name and no memory of ticks: whoever comes later does the work again."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._time = clock
        self._fence = 0
        self._locks: dict[str, tuple[str, datetime]] = {}

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return [self._lock_for(bid) for bid in bids]

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        for release in releases:
            token, _ = self._locks.get(release.tick.job_id, ("", None))
            if token == release.token:
                del self._locks[release.tick.job_id]

    def _lock_for(self, bid: Bid) -> Answer:
        now = self._time.now()
        token, until = self._locks.get(bid.tick.job_id, ("", now))
        if token != bid.token and until > now:
            return Answer(bid.tick, bid.token, Ruling.OVERLAPPED, now)
        self._fence += token != bid.token
        self._locks[bid.tick.job_id] = (bid.token, now + (bid.lease or timedelta()))
        return Answer(bid.tick, bid.token, Ruling.WON, now, fence=self._fence)


class KeepsOnlyTheLastTick(Broken):
    """Deletes older ticks as part of a claim, and remembers no watermark: a late replica fires them again."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._time = clock
        self._last: dict[str, tuple[Tick, str]] = {}
        self._fence = 0

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return [self._insert(bid) for bid in bids]

    def _insert(self, bid: Bid) -> Answer:
        tick, token = self._last.get(bid.tick.job_id, (None, ""))
        if tick == bid.tick and token != bid.token:
            return Answer(bid.tick, bid.token, Ruling.CLAIMED, self._time.now())
        self._fence += token != bid.token
        self._last[bid.tick.job_id] = (bid.tick, bid.token)
        return Answer(bid.tick, bid.token, Ruling.WON, self._time.now(), fence=self._fence)


class TakesNoLease(Broken):
    """A claim that blocks nothing: a later tick runs beside it."""

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        lapsing = [replace(bid, lease=bid.lease and timedelta(microseconds=1)) for bid in bids]
        return await super().claim(lapsing, replica=replica, timeout=timeout)


class ForgetsTokens(Broken):
    """Says "taken" to the winner who asks again because the answer was lost."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._seen: set[str] = set()

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        answers = await super().claim(bids, replica=replica, timeout=timeout)
        forgetful = [
            replace(answer, ruling=Ruling.CLAIMED) if answer.won and answer.token in self._seen else answer
            for answer in answers
        ]
        self._seen.update(answer.token for answer in answers)
        return forgetful


class NeverReleases(Broken):
    """Keeps every claim to the end of its lease."""

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        """Nothing."""


class TrustsFastClocks(Broken):
    """Grants a tick however far ahead of its own clock it lies."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock, tolerance=timedelta(hours=1))


class StandsStillAtOneFence(Broken):
    """Hands the same fence to everyone."""

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        answers = await super().claim(bids, replica=replica, timeout=timeout)
        return [replace(answer, fence=min(answer.fence, 1)) for answer in answers]


class WritesNothingOfTheMissed(Broken):
    """Accounts for a job's ticks, and leaves out those that nobody claimed."""

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        await super().release([replace(release, missed=()) for release in releases], replica=replica)


class CallsEveryEndARun(Broken):
    """However a run ended, and whether there was one: it ran."""

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        ran = [replace(release, verdict=Verdict.RAN) for release in releases]
        await super().release(ran, replica=replica)
