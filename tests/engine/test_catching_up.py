"""What is made up for after a stop, an outage and a suspend, and what a queue keeps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from onebeat import Run, Scheduler, every
from onebeat.engine.job import CatchUp
from onebeat.errors import ClaimFailed
from onebeat.history import TickFilter
from onebeat.model import Answer, Bid, Outcome, Reason, Replica, Verdict
from onebeat.testing.skewed import SkewedClock
from tests.engine.given import Gate, Given, Through

MINUTE = 60


async def verdicts(given: Given) -> dict[datetime, Verdict | None]:
    page = await given.store.ticks(TickFilter(), app="default", limit=1000)
    return {row.tick.scheduled_at: row.verdict for row in page.rows}


async def served(given: Given, minutes: int, **policy: Any) -> list[datetime]:
    """The instants that one replica ran in so many minutes of life, in the order of their runs."""
    runs: list[datetime] = []

    def body(run: Run) -> None:
        assert run.scheduled_at is not None  # ticks alone
        runs.append(run.scheduled_at)

    scheduler = given.scheduler(given.store)
    scheduler.add("a", every(MINUTE), body, **policy)
    async with scheduler:
        await given.clock.advance(minutes=minutes, seconds=1)
    return runs


@pytest.mark.parametrize(("catch_up", "made_up"), [("none", 0), ("latest", 1), ("all", 5)])
async def test_after_a_stop_a_job_makes_up_for_what_its_policy_says(
    given: Given, catch_up: CatchUp, made_up: int
) -> None:
    """C-CATCH: none, the latest, or all, in ascending order, the newest last; the rest is missed."""
    before = await served(given, 2, catch_up=catch_up)
    await given.clock.advance(minutes=5)
    after = await served(given, 2, catch_up=catch_up)
    assert len(before) == 2
    assert len(after) == 2 + made_up
    assert after == sorted(after)
    told = await verdicts(given)
    assert len(told) == 9
    assert list(told.values()).count(Verdict.RAN) == len(before) + len(after)
    assert list(told.values()).count(Verdict.MISSED) == 5 - made_up


async def test_catching_up_never_reaches_before_the_registration(given: Given) -> None:
    """C-CATCH: a new job owes nothing."""
    assert len(await served(given, 3, catch_up="all")) == 3


async def test_catching_up_is_bounded_by_window_and_number(given: Given) -> None:
    """C-CATCH: within a window and a cap."""
    await served(given, 1, catch_up="all")
    await given.clock.advance(minutes=20)
    assert len(await served(given, 1, catch_up="all", catch_up_window=5 * MINUTE)) == 1 + 5
    await given.clock.advance(minutes=20)
    assert len(await served(given, 1, catch_up="all", catch_up_limit=3)) == 1 + 3


async def test_replicas_that_start_together_make_up_for_each_tick_once(given: Given) -> None:
    """C-CATCH: deduplicated by the same claims, and in ascending order across the fleet."""
    await served(given, 1, catch_up="all")
    await given.clock.advance(minutes=10)
    runs: list[datetime | None] = []
    replicas = [given.scheduler(given.store, replica=name) for name in "xyz"]
    for scheduler in replicas:
        scheduler.add("a", every(MINUTE), lambda run: runs.append(run.scheduled_at), catch_up="all")
    async with replicas[0], replicas[1], replicas[2]:
        await given.clock.advance(minutes=2)
    assert len(runs) == 12
    assert runs == sorted(runs, key=str)
    assert set((await verdicts(given)).values()) == {Verdict.RAN}


class Down(Through):
    """A store that can be down."""

    down = False

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        if self.down:
            raise ClaimFailed("no connection")
        return await super().claim(bids, replica=replica, timeout=timeout)


@pytest.mark.parametrize(("catch_up", "made_up"), [("none", 0), ("latest", 1), ("all", 3)])
async def test_after_an_outage_of_the_store_a_job_makes_up_for_it(
    given: Given, catch_up: CatchUp, made_up: int
) -> None:
    """C-CATCH, C-ERROR: what could not be claimed stays owed where the job catches up."""
    store = Down(given.store)
    scheduler = given.scheduler(store, ttl=MINUTE)
    scheduler.add("a", every(MINUTE), lambda: None, catch_up=catch_up)
    async with scheduler:
        await given.clock.advance(minutes=1)
        store.down = True
        await given.clock.advance(minutes=3, seconds=30)
        store.down = False
        await given.clock.advance(minutes=3)
    assert len(given.recorder.ran("a")) == 4 + made_up
    told = list((await verdicts(given)).values())
    assert told.count(Verdict.CLAIM_ERROR) + told.count(Verdict.MISSED) == 3 - made_up
    assert len(told) == 7


@pytest.mark.parametrize(("catch_up", "made_up"), [("latest", 1), ("all", 5)])
async def test_after_a_suspend_a_job_makes_up_for_it(given: Given, catch_up: CatchUp, made_up: int) -> None:
    """C-CATCH, W-LATE: the latest runs anyway; with all, each of those that were slept through."""
    clock = SkewedClock(given.clock, timedelta(0), 0.0)
    scheduler = Scheduler(given.store, clock=clock, observers=[given.recorder])
    scheduler.add("a", every(MINUTE), lambda: None, catch_up=catch_up)
    async with scheduler:
        await given.clock.advance(minutes=1)
        clock.freeze(5 * MINUTE + 1)
        await given.clock.advance(minutes=7)
    assert len(given.recorder.ran("a")) == 1 + made_up + 2


async def test_a_queue_runs_the_newest_refused_tick_once_the_run_has_ended(given: Given) -> None:
    """overlap="queue": once, after the current one; the others refused meanwhile are overlapped."""
    gate = Gate()
    scheduler = given.scheduler(given.store)
    scheduler.add("a", every(MINUTE), gate.named("a"), overlap="queue")
    async with scheduler:
        await given.clock.advance(minutes=4, seconds=30)
        gate.open()
        await given.clock.advance(seconds=10)
        assert len(gate.began) == 2
        told = [(event.outcome, event.reason) for event in given.recorder.ended("a")]
        assert told.count((Outcome.SKIPPED, Reason.BUSY)) == 2
        assert told.count((Outcome.RAN, None)) == 2
    assert sorted((await verdicts(given)).items())[0][1] is Verdict.RAN
    assert list((await verdicts(given)).values()).count(Verdict.OVERLAPPED) == 2


async def test_a_queue_holds_across_replicas(given: Given) -> None:
    """overlap="queue": whoever is free runs it after the run that goes on elsewhere; once in all."""
    gate = Gate()
    busy, free = given.scheduler(given.store, replica="busy"), given.scheduler(given.store, replica="free")
    busy.add("a", every(MINUTE), gate.named("busy"), overlap="queue")
    free.add("a", every(MINUTE), gate.named("free"), overlap="queue")
    async with busy:
        await given.clock.advance(minutes=1)
        async with free:
            await given.clock.advance(minutes=1, seconds=30)
            assert gate.began == ["busy"]
            gate.open()
            await given.clock.advance(seconds=20)
            assert len(gate.began) == 2
            assert len(await verdicts(given)) == 2
    assert set((await verdicts(given)).values()) == {Verdict.RAN}
