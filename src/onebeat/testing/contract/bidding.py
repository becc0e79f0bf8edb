"""How the contract's tests ask a store, and what a subclass may override."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property

from onebeat.claims import ClaimStore
from onebeat.errors import ClaimFailed
from onebeat.model import Answer, Bid, Release, Replica, Ruling, Tick, Verdict

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
A_MOMENT = 0.2
SHORT = timedelta(seconds=A_MOMENT)
"""A lease that lapses within a test: a store with a real clock really waits for it."""

A_WHILE = 3 * A_MOMENT
"""Seconds, for what has to be seen before they are over: a busy machine takes its time."""


def token() -> str:
    return uuid.uuid4().hex


class Bidding:
    """What a store's own test class gives (`store`), and what it may override.

    `tolerance` is how far ahead of its clock the store takes a tick (C-EARLY).
    `spent` is a claim timeout that has passed before anything can be decided.
    """

    store: ClaimStore
    tolerance: timedelta = timedelta(seconds=5)
    spent: timedelta = timedelta(0)

    def handles(self) -> Sequence[ClaimStore]:
        """Every open handle on the shared place, as replicas in several processes would have."""
        return (self.store,)

    def handle(self, n: int) -> ClaimStore:
        """The handle of the *n*-th rival: each has one in turn."""
        return self.handles()[n % len(self.handles())]

    async def pass_time(self, seconds: float) -> None:
        """Let *seconds* pass on the store's clock; override it to move a clock of your own."""
        await asyncio.sleep(seconds)

    @cached_property
    def app(self) -> str:
        return f"contract-{token()}"

    def replica(self, name: str = "a", app: str | None = None) -> Replica:
        return Replica(app or self.app, f"id-of-{name}", name)

    async def store_time(self) -> datetime:
        """The store's clock, as it tells it when it answers a bid."""
        return (
            await self.bid(Tick("what time is it", datetime.fromisoformat("2001-01-01T00:00Z")))
        ).store_time

    async def ticks(self, count: int, job_id: str = "report") -> list[Tick]:
        """*count* ticks of one job, a minute apart, in order; all lie well behind the store's clock."""
        first = (await self.store_time()) - timedelta(days=2)
        return [Tick(job_id, first + n * MINUTE) for n in range(count)]

    async def bid(
        self,
        tick: Tick,
        token_: str | None = None,
        *,
        by: str = "a",
        app: str | None = None,
        lease: timedelta | None = HOUR,
        store: ClaimStore | None = None,
    ) -> Answer:
        """The answer to one bid; one that lost a race to a conflict is made again, as the engine would."""
        bid = Bid(tick, token_ or token(), lease)
        return (await self.bid_all([bid], by=by, app=app, store=store))[0]

    async def bid_all(
        self,
        bids: Sequence[Bid],
        *,
        by: str = "a",
        app: str | None = None,
        timeout: timedelta = timedelta(seconds=30),
        store: ClaimStore | None = None,
    ) -> Sequence[Answer]:
        asked = store or self.store
        while True:
            try:
                return await asked.claim(bids, replica=self.replica(by, app), timeout=timeout)
            except ClaimFailed as error:
                if error.failure != "conflict":
                    raise

    async def won(self, tick: Tick, *, by: str = "a", lease: timedelta | None = HOUR) -> Answer:
        """The answer to a bid that has to win, else the test fails here."""
        answer = await self.bid(tick, by=by, lease=lease)
        assert answer.ruling is Ruling.WON, answer
        return answer

    async def ruling(self, tick: Tick, *, by: str = "b", lease: timedelta | None = HOUR) -> Ruling:
        return (await self.bid(tick, by=by, lease=lease)).ruling

    async def release(self, tick: Tick, token_: str, *, by: str = "a") -> None:
        await self.store.release([self.ended(tick, token_)], replica=self.replica(by))

    def ended(self, tick: Tick, token_: str) -> Release:
        at = tick.scheduled_at
        return Release(tick, token_, Verdict.RAN, started_at=at, finished_at=at + MINUTE)

    async def run(self, tick: Tick, *, lease: timedelta | None = HOUR) -> Answer:
        """Win *tick* and release it again: a run from start to end."""
        answer = await self.won(tick, lease=lease)
        await self.release(tick, answer.token)
        return answer

    async def prune(self, limit: int = 10_000) -> int:
        """Delete every tick row that may be deleted at all."""
        await self.pass_time(0.01)
        return await self.store.prune(app=self.app, keep=timedelta(microseconds=1), limit=limit)
