"""Whatever is asked, in whatever order: the memory and the SQLite store say the same, and keep the rules."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from onebeat.claims import ClaimStore
from onebeat.model import Answer, Bid, Release, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.testing.clock import FakeClock

REPLICAS = [Replica("default", name, name) for name in "abc"]
LEASES = [None, timedelta(seconds=2), timedelta(minutes=1)]
SECOND = timedelta(seconds=1)


class Story:
    """A seeded run of claims, repeats, releases, pruning, repairs and a clock that strays both ways."""

    def __init__(self, seed: int, stores: Sequence[ClaimStore], clock: FakeClock) -> None:
        self.chance = random.Random(seed)
        self.stores = stores
        self.clock = clock
        self.start = clock.now()
        self.asked: list[Bid] = []
        self.won: dict[Bid, list[Answer]] = defaultdict(list)

    async def tell(self, steps: int) -> None:
        acts = (
            [self.claim] * 6
            + [self.ask_again] * 3
            + [self.release] * 4
            + [self.prune, self.repair, self.stray]
        )
        for _ in range(steps):
            await self.chance.choice(acts)()

    async def claim(self) -> None:
        tick = Tick(self.chance.choice("xy"), self.clock.now() + self.chance.randrange(-20, 8) * SECOND)
        await self.bid(Bid(tick, f"token-{len(self.asked)}", self.chance.choice(LEASES)))

    async def ask_again(self) -> None:
        if self.asked:
            await self.bid(self.chance.choice(self.asked))

    async def bid(self, bid: Bid) -> None:
        replica = self.chance.choice(REPLICAS)
        one, other = [await store.claim([bid], replica=replica, timeout=SECOND * 30) for store in self.stores]
        assert list(one) == list(other)
        self.asked.append(bid)
        if one[0].won:
            self.won[bid].append(one[0])

    async def release(self) -> None:
        if self.asked:
            bid = self.chance.choice(self.asked[-4:])
            ended = Release(bid.tick, bid.token, Verdict.RAN, started_at=self.start, error="none")
            for store in self.stores:
                await store.release([ended], replica=self.chance.choice(REPLICAS))

    async def prune(self) -> None:
        keep, limit = self.chance.choice([1, 10, 20]) * SECOND, self.chance.choice([1, 100])
        one, other = [await store.prune(app="default", keep=keep, limit=limit) for store in self.stores]
        assert one == other

    async def repair(self) -> None:
        job_id = self.chance.choice("xy")
        one, other = [await store.repair(app="default", job_id=job_id) for store in self.stores]
        assert one == other

    async def stray(self) -> None:
        self.clock.step(seconds=self.chance.choice([1, 2, 5, 15, -10]))


@pytest.mark.parametrize("seed", range(20))
async def test_two_stores_tell_one_story_and_no_tick_is_won_twice(seed: int, tmp_path: Path) -> None:
    """D-SAME, C-ONE, C-TOKEN, F-FENCE: every win has one token, one stored answer, and a fence of its own."""
    clock = FakeClock()
    file = SqliteStore(tmp_path / "jobs.db", clock=clock)
    story = Story(seed, [MemoryStore(clock=clock), file], clock)
    await story.tell(steps=150)
    await file.close()

    ticks = [bid.tick for bid in story.won]
    assert len(ticks) == len(set(ticks)), "a tick was won with two tokens"
    for answers in story.won.values():
        assert len({(answer.fence, answer.attempt, answer.previous_at) for answer in answers}) == 1
    for job_id in "xy":
        fences = [answers[0].fence for bid, answers in story.won.items() if bid.tick.job_id == job_id]
        assert fences == sorted(set(fences)), "in the order they were won"
    assert len(story.won) > 5
