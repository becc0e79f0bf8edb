"""Whatever befalls a fleet, in whatever order: both embedded stores tell one story, and a possible one."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from onebeat.control import Target
from onebeat.fleet import KEPT_FOR_A_RERUN, Facts, Held, Order, Registration
from onebeat.history import TickFilter
from onebeat.model import Bid, Record, Release, Replica, Ruling, Tick, Verdict, Wanted
from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.stores.sqlite.sides import EmbeddedStore
from onebeat.testing.clock import FakeClock

T = TypeVar("T")

TTL = timedelta(seconds=8)
LEASE = timedelta(hours=1)
SECOND = timedelta(seconds=1)
JOBS = "xy"
REGISTRATIONS = [Registration(job_id, "* * * * * *", job_id) for job_id in JOBS]
END = timedelta(seconds=30)


class Lives:
    """A seeded run of beats and silences, deaths and returns, bids of every kind, requests and verdicts.

    `held` is what each replica believes to hold. Of all that it is told nothing is taken on trust.
    """

    def __init__(self, seed: int, stores: Sequence[EmbeddedStore], clock: FakeClock) -> None:
        self.chance = random.Random(seed)
        self.stores = stores
        self.clock = clock
        self.replicas = [Replica("app", f"{name}-0", name) for name in "abc"]
        self.held: dict[str, dict[str, Bid]] = {replica.id: {} for replica in self.replicas}
        self.won: dict[tuple[Tick, int], str] = {}
        self.lost: set[tuple[Tick, int]] = set()
        self.running: dict[str, str] = {}  # the token that blocks each job
        self.kept: dict[str, datetime] = {}  # until when a lost run may
        self.count = 0
        self.asleep: int | None = None
        self.told: list[Order] = []
        self.ended: list[Release] = []

    async def tell(self, steps: int) -> None:
        for replica in self.replicas:
            await self.join(replica)
        acts = [self.beats] * 8 + [self.claim] * 6 + [self.release] * 2 + [self.obey] * 3 + [self.wait] * 4
        acts += [self.ask, self.pause, self.record, self.prune, self.doze]
        for _ in range(steps):
            await self.chance.choice(acts)()

    async def both(self, ask: Callable[[EmbeddedStore], Awaitable[T]]) -> T:
        one, other = [await ask(store) for store in self.stores]
        assert one == other
        return one

    async def join(self, replica: Replica) -> None:
        facts = Facts("2", "2026a", 1)
        await self.both(
            lambda store: store.join(REGISTRATIONS, replica=replica, facts=facts, now=self.clock.now())
        )

    async def beats(self) -> None:
        for place in range(3):
            if place != self.asleep:
                await self.beat(place)

    async def doze(self) -> None:
        """Somebody sleeps, or nobody; whoever slept until now wakes up."""
        self.asleep = self.chance.choice([None, 0, 1, 2])

    async def beat(self, place: int) -> None:
        replica = self.replicas[place]
        pulse = await self.both(lambda store: store.beat(replica=replica, now=self.clock.now(), ttl=TTL))
        if pulse.dead:
            await self.come_back(place)
        elif pulse.healthy and pulse.suspects:
            for buried in await self.both(lambda store: store.bury(replica=replica, ttl=TTL)):
                assert (buried.tick, buried.attempt) in self.won
                self.lost.add((buried.tick, buried.attempt))
                self.freed(self.won[buried.tick, buried.attempt])
                self.kept[buried.tick.job_id] = self.clock.now() + KEPT_FOR_A_RERUN

    async def come_back(self, place: int) -> None:
        gone = self.replicas[place]
        self.count += 1
        replica = self.replicas[place] = replace(gone, id=f"{gone.label}-{self.count}")
        held = list(self.held.pop(gone.id).values())
        self.held[replica.id] = {}
        await self.join(replica)
        claims = [Held(bid.tick, bid.token, bid.lease) for bid in held]
        kept = await self.both(lambda store: store.reassert(claims, replica=replica))
        for bid, is_kept in zip(held, kept, strict=True):
            if is_kept:
                assert self.won[bid.tick, bid.attempt] == bid.token
                self.lost.discard((bid.tick, bid.attempt))
                self.take(replica, bid)

    async def claim(self) -> None:
        tick = Tick(self.chance.choice(JOBS), self.clock.now() - self.chance.randrange(4) * SECOND)
        await self.bid(Bid(tick, self.token(), self.chance.choice([LEASE, LEASE, None]), rerun=True))

    async def obey(self) -> None:
        """Take up something that is wanted; now and then something that is wanted no more."""
        replica = self.chance.choice(self.replicas)
        pulse = await self.both(lambda store: store.beat(replica=replica, now=self.clock.now(), ttl=TTL))
        for order in pulse.orders:
            assert order.wanted is not Wanted.CANCEL or order.token in self.held[replica.id]
        self.told += pulse.orders
        for order in (*pulse.orders, *self.chance.sample(self.told, min(2, len(self.told)))):
            if order.wanted is not Wanted.CANCEL and self.chance.random() < 0.7:
                triggered = order.wanted is Wanted.RUN
                lease = None if order.forced else LEASE
                bid = Bid(order.tick, self.token(), lease, order.attempt, rerun=True, triggered=triggered)
                await self.bid(bid)

    async def bid(self, bid: Bid) -> None:
        replica = self.chance.choice(self.replicas)
        [answer] = await self.both(lambda store: store.claim([bid], replica=replica, timeout=LEASE))
        if answer.ruling is Ruling.OVERLAPPED:
            kept = self.kept.get(bid.tick.job_id, self.clock.now()) > self.clock.now()
            assert kept or bid.tick.job_id in self.running, "nothing blocks it"
        if not answer.won:
            return
        assert (bid.tick, bid.attempt) not in self.won, "won twice"
        assert bid.attempt == 1 or (bid.tick, bid.attempt - 1) in self.lost, "its attempt before was not lost"
        self.won[bid.tick, bid.attempt] = bid.token
        self.take(replica, bid)

    def take(self, replica: Replica, bid: Bid) -> None:
        self.held[replica.id][bid.token] = bid
        if bid.lease is not None:
            assert self.running.get(bid.tick.job_id, bid.token) == bid.token, "two at once"
            self.running[bid.tick.job_id] = bid.token

    async def release(self) -> None:
        replica = self.chance.choice(self.replicas)
        if self.ended and self.chance.random() < 0.3:  # a late duplicate
            end = self.chance.choice(self.ended)
            await self.both(lambda store: store.release([end], replica=replica))
        elif self.held[replica.id]:
            token = self.chance.choice(sorted(self.held[replica.id]))
            bid = self.held[replica.id].pop(token)
            verdict = self.chance.choice([Verdict.RAN, Verdict.FAILED, Verdict.CANCELLED])
            missed = (bid.tick.scheduled_at - SECOND,)
            end = Release(bid.tick, token, verdict, missed=missed, accounts=True)
            await self.both(lambda store: store.release([end], replica=replica))
            self.ended.append(end)
            self.freed(token)

    def freed(self, token: str) -> None:
        self.running = {job_id: other for job_id, other in self.running.items() if other != token}

    async def ask(self) -> None:
        job_id, force = self.chance.choice(JOBS), self.chance.random() < 0.5
        ask = {"app": "app", "by": "ada", "reason": "why"}
        if self.chance.random() < 0.7:
            await self.both(lambda store: store.trigger(job_id, **ask, force=force))
        else:
            await self.both(lambda store: store.cancel(job_id, **ask, scheduled_at=None))

    async def pause(self) -> None:
        target = self.chance.choice([Target.app(), Target(job_id="x"), Target(prefix="y")])
        until = self.clock.now() + self.chance.randrange(1, 4) * SECOND
        await self.both(lambda store: store.pause(target, app="app", by="ada", reason="why", until=until))

    async def record(self) -> None:
        tick = Tick(self.chance.choice(JOBS), self.clock.now() - self.chance.randrange(9) * SECOND)
        records = [Record(tick, self.chance.choice([Verdict.MISSED, Verdict.EARLY]))]
        await self.both(lambda store: store.record(records, replica=self.replicas[0]))

    async def prune(self) -> None:
        keep, most = self.chance.choice([SECOND, END]), self.chance.choice([None, 5])
        await self.both(lambda store: store.prune(app="app", keep=keep, most=most, limit=3))

    async def wait(self) -> None:
        self.clock.step(seconds=self.chance.choice([1, 1, 2, 2, 3, 3]))

    def token(self) -> str:
        self.count += 1
        return f"token-{self.count:04}"


@pytest.mark.parametrize("seed", range(30))
async def test_a_fleet_lives_one_story_in_memory_and_in_a_file(seed: int, tmp_path: Path) -> None:
    """C-ONE, C-CRASH, C-LEASE, F-JUDGE, F-LOST: no attempt is won twice, none before the one before it was
    lost, and no two of a job hold its lease at once."""
    clock = FakeClock()
    file = SqliteStore(tmp_path / "jobs.db", clock=clock)
    lives = Lives(seed, [MemoryStore(clock=clock), file], clock)
    await lives.tell(steps=250)
    history = await lives.both(lambda store: store.ticks(TickFilter(), app="app", limit=1000))
    await file.close()
    assert history.rows
    assert len(lives.won) > 10
