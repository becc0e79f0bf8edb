"""What may befall a fleet, how likely, and the road between a replica and its store on which it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar, cast

from onebeat.claims import ClaimStore
from onebeat.errors import ClaimFailed
from onebeat.fleet import Buried, Facts, FleetStore, Held, Pulse, Registered, Registration
from onebeat.model import Answer, Bid, Record, Release, Replica
from onebeat.testing.clock import FakeClock
from onebeat.testing.skewed import SkewedClock

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Faults:
    """How bad it may get. Chances are from 0 to 1 for each statement, durations are seconds at most.

    skew, drift: how far a replica's clock may be off, either way, and how much it gains each second.
    freezes, crashes, deploys, outages: how many of each the story has, for the fleet as a whole.
    A crashed replica is gone with its claims, and another starts some time later; a deploy starts
        another, and then stops one in order.
    stall: the chance that a replica freezes just before a statement or just after it; a freeze lasts
        `frozen` seconds.
    slow: the chance of a slow statement, `slow_by` seconds, on the way there or back.
    lost_request, lost_answer: the chance that the connection breaks before or after the store decided.
    """

    skew: float = 0.0
    drift: float = 0.0
    freezes: int = 0
    stall: float = 0.0
    frozen: float = 8.0
    crashes: int = 0
    deploys: int = 0
    outages: int = 0
    down: float = 4.0
    slow: float = 0.0
    slow_by: float = 1.5
    lost_request: float = 0.0
    lost_answer: float = 0.0

    @property
    def cost_nothing(self) -> bool:
        """No tick is lost to these: only skew, drift and connections that break now and then."""
        kept = not (self.freezes or self.stall or self.crashes or self.outages or self.slow)
        # A replica that joins late with a fast clock makes ticks the others have yet to reach too old.
        return kept and not (self.deploys and (self.skew or self.drift))

    @property
    def cost_claims(self) -> bool:
        """A claim may stay unreleased until its lease ends."""
        return bool(self.lost_request or self.lost_answer) or not self.cost_nothing


CALM = Faults()
SKEWED = Faults(skew=1.5, drift=0.01)
STORMY = Faults(
    skew=1.5,
    drift=0.01,
    freezes=2,
    stall=0.05,
    crashes=1,
    deploys=1,
    outages=1,
    slow=0.1,
    lost_request=0.05,
    lost_answer=0.1,
)


class Weather:
    """What all roads share: whether the store is down."""

    def __init__(self, timeline: FakeClock) -> None:
        self._timeline = timeline
        self._down_until = 0.0

    @property
    def down(self) -> bool:
        return self._timeline.monotonic() < self._down_until

    def outage(self, seconds: float) -> None:
        self._down_until = max(self._down_until, self._timeline.monotonic() + seconds)


class Road:
    """A ClaimStore with its fleet's side: the one behind it, and all that may happen on the way to it."""

    loop_bound = None

    def __init__(
        self,
        store: ClaimStore,
        *,
        timeline: FakeClock,
        clock: SkewedClock,
        weather: Weather,
        faults: Faults,
        chance: Random,
        decided: Callable[[Sequence[Bid], Sequence[Answer]], object],
        released: Callable[[Sequence[Release]], object],
        buried: Callable[[Sequence[Buried]], object],
        reasserted: Callable[[Sequence[Held]], object],
        note: Callable[[str], object],
    ) -> None:
        self.label = store.label
        self.tolerance = store.tolerance
        self.closed = False
        self._store = store
        self._fleet = cast(FleetStore, store)
        self._timeline = timeline
        self._clock = clock
        self._weather = weather
        self._faults = faults
        self._chance = chance
        self._decided = decided
        self._released = released
        self._buried = buried
        self._reasserted = reasserted
        self._note = note

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        async def ask() -> Sequence[Answer]:
            answers = await self._store.claim(bids, replica=replica, timeout=timeout)
            # Noted where it is decided: the replica may never hear of it.
            self._decided(bids, answers)
            return answers

        return await self._there_and_back(ask)

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        self._released(releases)
        await self._there_and_back(lambda: self._store.release(releases, replica=replica))

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await self._there_and_back(
            lambda: self._store.prune(app=app, keep=keep, most=most, limit=limit)
        )

    async def repair(self, *, app: str, job_id: str) -> bool:
        return await self._store.repair(app=app, job_id=job_id)

    async def join(
        self, registrations: Sequence[Registration], *, replica: Replica, facts: Facts, now: datetime
    ) -> Sequence[Registered]:
        return await self._heartbeat(
            lambda: self._fleet.join(registrations, replica=replica, facts=facts, now=now)
        )

    async def beat(self, *, replica: Replica, now: datetime, ttl: timedelta) -> Pulse:
        return await self._heartbeat(lambda: self._fleet.beat(replica=replica, now=now, ttl=ttl))

    async def bury(self, *, replica: Replica, ttl: timedelta) -> Sequence[Buried]:
        async def ask() -> Sequence[Buried]:
            buried = await self._fleet.bury(replica=replica, ttl=ttl)
            self._buried(buried)
            return buried

        return await self._heartbeat(ask)

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        async def ask() -> Sequence[bool]:
            kept = await self._fleet.reassert(claims, replica=replica)
            self._reasserted([claim for claim, is_kept in zip(claims, kept, strict=True) if is_kept])
            return kept

        return await self._heartbeat(ask)

    async def record(self, records: Sequence[Record], *, replica: Replica) -> None:
        await self._heartbeat(lambda: self._fleet.record(records, replica=replica))

    async def leave(self, *, replica: Replica) -> None:
        await self._heartbeat(lambda: self._fleet.leave(replica=replica))

    async def asked(self, *, app: str) -> None:
        """On this road nobody calls: what is asked is seen with the next beat."""
        await asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """The store is the fleet's."""

    async def _heartbeat(self, ask: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """As often as it comes, it brings no stall of its own: those of the fleet hit it, too."""
        return await self._there_and_back(ask, stall=0.0)

    async def _there_and_back(
        self, ask: Callable[[], Coroutine[Any, Any, _T]], *, stall: float | None = None
    ) -> _T:
        stall = self._faults.stall if stall is None else stall
        await self._delays(stall)
        self._breaks(self._faults.lost_request, "a request")
        answer = await ask()
        await self._delays(stall)
        self._breaks(self._faults.lost_answer, "an answer")
        return answer

    async def _delays(self, stall: float) -> None:
        if self._happens(stall):
            seconds = self._chance.uniform(0, self._faults.frozen)
            self._note(f"freezes for {seconds:.3f} s at a statement")
            self._clock.freeze(seconds)
        await self._clock.awake()
        if self._happens(self._faults.slow):
            await self._timeline.sleep(self._chance.uniform(0, self._faults.slow_by))
            await self._clock.awake()

    def _breaks(self, chance: float, what: str) -> None:
        if self.closed:
            raise ClaimFailed("nobody is there any more")
        if self._weather.down or self._happens(chance):
            self._note(f"loses {what}")
            raise ClaimFailed("the connection broke")

    def _happens(self, chance: float) -> bool:
        return self._chance.random() < chance
