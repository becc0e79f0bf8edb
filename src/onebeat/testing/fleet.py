"""A fleet of replicas in virtual time: real schedulers, one store, every misfortune a seed can think of."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import count

from onebeat.claims import ClaimStore
from onebeat.engine.here import identities
from onebeat.history import MOST_ROWS, TickFilter, history_side
from onebeat.model import Bid, Replica, Ruling, Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.faults import CALM, Faults, Weather
from onebeat.testing.replica import APP, TTL, SimulatedReplica
from onebeat.testing.story import SimulatedJob, Story

MakeStore = Callable[[FakeClock], ClaimStore]

_BOOTING = 1.0  # seconds within which the first replicas start
_REPLACED_WITHIN = 3.0
_LONGEST_REST = 120


def memory_store(timeline: FakeClock) -> ClaimStore:
    return MemoryStore(clock=timeline)


class Fleet:
    """*replicas* schedulers that share one store for *seconds* of virtual time, under *faults*.

    The same seed plays the same story. *store* makes the store on the fleet's clock; it must decide
    in virtual time: no thread, no connection.
    """

    def __init__(
        self,
        seed: int,
        jobs: Sequence[SimulatedJob],
        *,
        replicas: int = 3,
        seconds: float = 15,
        faults: Faults = CALM,
        store: MakeStore = memory_store,
    ) -> None:
        self._timeline = FakeClock()
        self._seconds = seconds
        self._chance = random.Random(seed)
        self._store = store(self._timeline)
        self._weather = Weather(self._timeline)
        self._replicas: list[SimulatedReplica] = []
        self._story = Story(seed, faults=faults, jobs=jobs, replicas=replicas, timeline=self._timeline)

    def run(self) -> Story:
        """Play the story on a loop of its own, once."""
        return asyncio.run(self.play())

    async def play(self) -> Story:
        """Play the story to its end, once, and hand it over."""
        # The engine draws its jitter from the shared generator: seeded too, or no story could be told again.
        drawn_so_far = random.getstate()
        random.seed(self._story.seed)
        given_so_far = identities.set(partial(next, map("{:032x}".format, count(self._story.seed << 32))))
        try:
            await self._start()
            await self._live()
            await self._close()
        finally:
            random.setstate(drawn_so_far)
            identities.reset(given_so_far)
        return self._story

    async def _start(self) -> None:
        for _ in range(self._story.replicas):
            self._timeline.call_later(self._chance.uniform(0, _BOOTING), self._boot)
        await self._timeline.advance(seconds=_BOOTING)
        self._story.ready_at = self._timeline.now()

    async def _live(self) -> None:
        faults = self._story.faults
        for number, strike in (
            (faults.freezes, self._freeze),
            (faults.crashes, self._crash),
            (faults.deploys, self._deploy),
            (faults.outages, self._outage),
        ):
            for _ in range(number):
                self._timeline.call_later(self._chance.uniform(0, self._seconds), strike)
        await self._timeline.advance(seconds=self._seconds)

    async def _close(self) -> None:
        """No more ticks; what runs may end, leases may lapse; then everybody stops."""
        self._story.closing_at = self._timeline.now()
        for replica in self._alive():
            replica.retire_jobs()
        await self._come_to_rest()
        if self._story.faults.cost_claims:
            # Who is gone with claims in its hands is found, and their ticks lost.
            await self._timeline.advance(seconds=3 * TTL)
            await self._come_to_rest()
        self._story.still_busy += self._busy_replicas() + await self._blocked_jobs()
        for replica in self._replicas:
            replica.bury() if replica.dead else replica.scheduler.stop()
        await self._timeline.advance(minutes=1)
        self._story.still_busy += [f"{replica.name} did not stop" for replica in self._unstopped()]
        await self._read_verdicts()

    async def _read_verdicts(self) -> None:
        """What the history says in the end, of a store that has one."""
        history, after = history_side(self._store), None
        while history is not None:
            page = await history.ticks(TickFilter(), app=APP, limit=MOST_ROWS, after=after)
            self._story.verdicts |= {row.tick: (row.verdict, row.attempt) for row in page.rows}
            if page.next is None:
                return
            after = page.next

    def _boot(self) -> None:
        if self._story.closing_at is not None:
            return
        name = f"r{len(self._replicas) + 1}"
        self._story.note(f"{name} boots")
        self._replicas.append(
            SimulatedReplica(
                name, story=self._story, store=self._store, timeline=self._timeline, weather=self._weather
            )
        )

    def _alive(self) -> list[SimulatedReplica]:
        return [replica for replica in self._replicas if not (replica.dead or replica.stopping)]

    def _freeze(self) -> None:
        seconds = self._chance.uniform(0, self._story.faults.frozen)
        if alive := self._alive():
            replica = self._chance.choice(alive)
            self._story.note(f"{replica.name} freezes for {seconds:.3f} s")
            replica.clock.freeze(seconds)

    def _crash(self) -> None:
        delay = self._chance.uniform(0, _REPLACED_WITHIN)
        if alive := self._alive():
            self._chance.choice(alive).crash()
            self._timeline.call_later(delay, self._boot)

    def _deploy(self) -> None:
        """A replacement starts, then one of the others is told to stop."""
        delay = self._chance.uniform(0, _REPLACED_WITHIN)
        if others := self._alive():
            self._boot()
            self._timeline.call_later(delay, self._chance.choice(others).stop)

    def _outage(self) -> None:
        seconds = self._chance.uniform(0, self._story.faults.down)
        self._story.note(f"the store is down for {seconds:.3f} s")
        self._weather.outage(seconds)

    async def _come_to_rest(self) -> None:
        """Until the last body, thaw and retry, as long as that may take."""
        for _ in range(_LONGEST_REST):
            if not self._busy_replicas():
                return
            await self._timeline.advance(seconds=1)

    def _busy_replicas(self) -> list[str]:
        return [f"{replica.name} is still busy" for replica in self._replicas if replica.busy]

    async def _blocked_jobs(self) -> list[str]:
        """Where a release may have failed, or its replica with it, the lease has to end first."""
        blocked = await self._blocked_in_the_store()
        for _ in range(3 if self._story.faults.cost_claims else 0):
            # A claim that was still on its way may have landed meanwhile: then its lease counts.
            leases = [win.lease for win in self._story.wins if win.lease]
            if blocked:
                await self._timeline.advance(max(leases, default=timedelta()))
                blocked = await self._blocked_in_the_store()
        return blocked

    async def _blocked_in_the_store(self) -> list[str]:
        """The jobs whose next tick a newcomer would be refused, because of a claim that has not ended."""
        newcomer = Replica(APP, "newcomer", "newcomer")
        blocked = []
        for job_id in self._story.jobs:
            bid = Bid(Tick(job_id, self._timeline.now()), secrets.token_hex(16), timedelta(seconds=1))
            answers = await self._store.claim([bid], replica=newcomer, timeout=timedelta(seconds=1))
            if answers[0].ruling is Ruling.OVERLAPPED:
                blocked.append(f"{job_id} is blocked in the store")
        return blocked

    def _unstopped(self) -> list[SimulatedReplica]:
        return [replica for replica in self._replicas if not replica.serving.done()]
