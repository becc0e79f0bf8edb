"""The road to the store: what befalls a statement, and what the store has decided all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from onebeat.claims import ClaimStore
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import Answer, Bid, Release, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.faults import CALM, SKEWED, STORMY, Faults, Road, Weather
from onebeat.testing.skewed import SkewedClock

START = datetime(2026, 1, 1, tzinfo=UTC)
BID = Bid(Tick("report", START), "token", timedelta(seconds=5))
ME = Replica("app", "1", "me")
SECOND = timedelta(seconds=1)


class Given:
    """A road under *faults*, and all that stands beside it."""

    def __init__(self, faults: Faults) -> None:
        self.timeline = FakeClock()
        self.clock = SkewedClock(self.timeline, timedelta(), 0.0)
        self.weather = Weather(self.timeline)
        self.store = MemoryStore(clock=self.timeline)
        self.decided: list[Answer] = []
        self.notes: list[str] = []
        self.released: list[Release] = []
        self.road = Road(
            self.store,
            timeline=self.timeline,
            clock=self.clock,
            weather=self.weather,
            faults=faults,
            chance=Random(1),
            decided=self.note,
            released=self.released.extend,
            buried=lambda _: None,
            reasserted=lambda _: None,
            note=self.notes.append,
        )

    def note(self, bids: Sequence[Bid], answers: Sequence[Answer]) -> None:
        self.decided += answers

    async def claim(self) -> Answer:
        return (await self.road.claim([BID], replica=ME, timeout=SECOND))[0]


async def test_a_calm_road_changes_nothing() -> None:
    given = Given(CALM)
    store: ClaimStore = given.road
    assert (await given.claim()).won
    release = Release(BID.tick, "token", Verdict.RAN)
    await store.release([release], replica=ME)
    assert given.released == [release]
    assert await store.prune(app="app", keep=SECOND, limit=10) == 0
    assert not await store.repair(app="app", job_id="report")
    await store.close()
    assert store.label == "memory"
    assert given.timeline.monotonic() == 0


async def test_a_lost_request_reaches_nobody() -> None:
    given = Given(Faults(lost_request=1))
    with pytest.raises(ClaimFailed) as raised:
        await given.claim()
    assert raised.value.failure is ClaimFailure.UNAVAILABLE
    assert given.decided == []
    assert given.notes == ["loses a request"]


async def test_a_lost_answer_is_decided_all_the_same() -> None:
    given = Given(Faults(lost_answer=1))
    with pytest.raises(ClaimFailed):
        await given.claim()
    assert [answer.won for answer in given.decided] == [True]


async def test_while_the_store_is_down_every_statement_fails() -> None:
    given = Given(CALM)
    given.weather.outage(3)
    given.weather.outage(1)
    await given.timeline.advance(seconds=2)
    with pytest.raises(ClaimFailed):
        await given.claim()
    await given.timeline.advance(seconds=1)
    assert (await given.claim()).won


async def test_a_slow_statement_takes_time_of_the_timeline() -> None:
    given = Given(Faults(slow=1, slow_by=1))
    claiming = asyncio.create_task(given.claim())
    await given.timeline.settle()
    assert not given.decided
    await given.timeline.advance(seconds=2)
    assert claiming.done()


async def test_a_replica_can_freeze_between_seeing_a_tick_and_claiming_it() -> None:
    given = Given(Faults(stall=1, frozen=8))
    claiming = asyncio.create_task(given.claim())
    await given.timeline.settle()
    assert given.clock.frozen
    assert given.decided == []
    await given.timeline.advance(seconds=16)
    assert given.decided
    assert claiming.done()


async def test_a_frozen_replica_hears_its_answer_at_the_thaw() -> None:
    given = Given(Faults(slow=1, slow_by=1))
    claiming = asyncio.create_task(given.claim())
    await given.timeline.settle()
    given.clock.freeze(10)
    await given.timeline.advance(seconds=9)
    assert not claiming.done()
    await given.timeline.advance(seconds=3)
    assert claiming.done()


async def test_a_closed_road_leads_nowhere() -> None:
    given = Given(CALM)
    given.road.closed = True
    with pytest.raises(ClaimFailed):
        await given.claim()
    assert given.decided == []


@pytest.mark.parametrize(
    ("faults", "nothing"),
    [
        (CALM, True),
        (SKEWED, True),
        (STORMY, False),
        (Faults(lost_request=0.1, lost_answer=0.1), True),
        (Faults(deploys=2), True),
        (Faults(deploys=1, skew=1), False),
        (Faults(crashes=1), False),
        (Faults(freezes=1), False),
        (Faults(stall=0.1), False),
        (Faults(outages=1), False),
        (Faults(slow=0.1), False),
    ],
)
def test_it_is_said_which_faults_cost_no_tick(faults: Faults, nothing: bool) -> None:
    assert faults.cost_nothing is nothing
