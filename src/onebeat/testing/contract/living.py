"""How the contract's tests let replicas live and die."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast
from unittest import SkipTest

from onebeat.fleet import Buried, Facts, FleetStore, Order, Pulse, Registered, Registration
from onebeat.model import Answer, Bid, Record, Tick, Verdict
from onebeat.testing.contract.asking import Asking
from onebeat.testing.contract.bidding import HOUR, token

TTL = timedelta(seconds=0.5)
"""How long one may be silent: a store with a real clock really waits for it."""
A_WHILE = 1.2 * TTL.total_seconds()
A_BREATH = 0.2 * TTL.total_seconds()
_BREATHS = 200


class Living(Asking):
    """Short words for what happens to replicas. Whoever is to live beats along.

    `deaths` may be set to False where the same store is tested through another handle besides: a store with a
    real clock waits half a minute for all of them.
    """

    deaths: bool = True

    def fleets(self, n: int) -> FleetStore:
        """That of the *n*-th rival's handle."""
        return cast(FleetStore, self.side("join", "beat", "bury", of=self.handle(n)))

    async def join(
        self, *job_ids: str, by: str = "a", schedule: str = "0 2 * * *", digest: str = "digest"
    ) -> Sequence[Registered]:
        return await self.fleet.join(
            [Registration(job_id, schedule, digest) for job_id in job_ids],
            replica=self.replica(by),
            facts=Facts("2.0", "2026a", 42),
            now=await self.store_time(),
        )

    async def beat(self, by: str = "a", *, now: datetime | None = None, handle: int = 0) -> Pulse:
        sent_at = now or await self.store_time()
        return await self.fleets(handle).beat(replica=self.replica(by), now=sent_at, ttl=TTL)

    async def bury(self, by: str = "judge", *, handle: int = 0) -> list[Buried]:
        return list(await self.fleets(handle).bury(replica=self.replica(by), ttl=TTL))

    async def healthy(self, *names: str) -> None:
        """Let these beat until all of them are healthy."""
        self.wait_for_deaths()
        for _ in range(_BREATHS):
            if all([(await self.beat(name)).healthy for name in names]):
                return
            await self.pass_time(A_BREATH)
        raise AssertionError(f"{names} beat all along and are not healthy")

    async def death_of(self, by: str, *, while_living: Sequence[str] = ()) -> list[Buried]:
        """Have the silent *by* declared dead by a judge of its own; what is told of the claims left."""
        self.wait_for_deaths()
        buried: list[Buried] = []
        await self.join(by="judge")
        for _ in range(_BREATHS):
            for name in while_living:
                await self.beat(name)
            pulse = await self.beat("judge")
            if self.replica(by).id not in pulse.living:
                return buried
            if pulse.healthy and pulse.suspects:
                buried += await self.bury()
            await self.pass_time(A_BREATH)
        raise AssertionError(f"{by} never died")

    def wait_for_deaths(self) -> None:
        if not self.deaths:
            raise SkipTest("nobody is to die here")

    async def orders(self, by: str = "a") -> Sequence[Order]:
        return (await self.beat(by)).orders

    async def lost(self, tick: Tick, *, by: str = "b", rerun: bool = True) -> Answer:
        """A claim of *tick* by a replica that dies in its run."""
        await self.join(tick.job_id, by=by)
        [answer] = await self.bid_all([Bid(tick, token(), HOUR, rerun=rerun)], by=by)
        assert answer.won, answer
        assert [(one.tick, one.attempt) for one in await self.death_of(by)] == [(tick, 1)]
        return answer

    async def bid_attempt(
        self, tick: Tick, attempt: int = 2, *, by: str = "a", token_: str | None = None, handle: int = 0
    ) -> Answer:
        bid = Bid(tick, token_ or token(), HOUR, attempt=attempt, rerun=True)
        return (await self.bid_all([bid], by=by, store=self.handle(handle)))[0]

    async def record(self, tick: Tick, verdict: Verdict, note: str | None = None) -> None:
        await self.fleet.record([Record(tick, verdict, note)], replica=self.replica())
