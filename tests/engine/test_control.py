"""Pause, resume, trigger and cancel, as running replicas obey them."""

from __future__ import annotations

from typing import Any

from onebeat import Run, every
from onebeat.control import Target
from onebeat.errors import Cancelled
from onebeat.history import TickFilter, TickRecord
from onebeat.model import Outcome, Reason, Verdict
from tests.engine.given import Gate, Given

ASK: Any = {"app": "default", "by": "ops@desk", "reason": "to see"}
MINUTE = 60


async def rows(given: Given) -> list[TickRecord]:
    """The history, the oldest first."""
    page = await given.store.ticks(TickFilter(), app="default", limit=1000)
    return list(reversed(page.rows))


async def test_a_paused_job_runs_nowhere_until_it_is_resumed(given: Given) -> None:
    """F-PAUSE: decided in the claim, so that it holds for all at once; what was paused is not caught up."""
    one, other = given.scheduler(given.store), given.scheduler(given.store)
    for scheduler in (one, other):
        scheduler.add("a", every(MINUTE), lambda: None, catch_up="all")
        scheduler.add("b", every(MINUTE), lambda: None)
    async with one, other:
        await given.clock.advance(minutes=2)
        await given.store.pause(Target(job_id="a"), until=None, **ASK)
        await given.clock.advance(minutes=3, seconds=1)
        assert (len(given.recorder.ran("a")), len(given.recorder.ran("b"))) == (2, 5)
        assert await given.store.resume(Target(job_id="a"), **ASK)
        await given.clock.advance(minutes=2)
    assert (len(given.recorder.ran("a")), len(given.recorder.ran("b"))) == (4, 7)
    paused = [event for event in given.recorder.ended("a") if event.reason is Reason.PAUSED]
    assert len(paused) == 6
    told = [row.verdict for row in await rows(given) if row.tick.job_id == "a"]
    assert told == [Verdict.RAN] * 2 + [Verdict.PAUSED] * 3 + [Verdict.RAN] * 2


async def test_a_trigger_runs_once_among_all_and_leaves_the_schedule_alone(given: Given) -> None:
    """F-PAUSE: a trigger, with who asked and why; the job's own ticks come as they would have."""
    replicas = [given.scheduler(given.store, replica=name) for name in "xyz"]
    runs: list[Run] = []
    for scheduler in replicas:
        scheduler.add("a", every(10 * MINUTE), runs.append)
    async with replicas[0], replicas[1], replicas[2]:
        await given.clock.advance(minutes=1)
        tick = await given.store.trigger("a", force=False, **ASK)
        await given.clock.advance(minutes=1)
        assert [run.scheduled_at for run in runs] == [tick.scheduled_at]
        await given.clock.advance(minutes=10)
    assert len(runs) == 2
    triggered, owed = await rows(given)
    assert (triggered.triggered, triggered.by, triggered.reason) == (True, "ops@desk", "to see")
    assert (triggered.verdict, owed.verdict, owed.triggered) == (Verdict.RAN, Verdict.RAN, False)
    assert len([event for event in given.recorder.ended("a") if event.outcome is Outcome.RAN]) == 2


async def test_a_trigger_waits_for_the_run_that_goes_on(given: Given) -> None:
    """F-PAUSE: it obeys overlap, and runs with the beat after the end."""
    gate = Gate()
    scheduler = given.scheduler(given.store)
    scheduler.add("a", every(10 * MINUTE), gate.named("a"))
    async with scheduler:
        await given.clock.advance(minutes=10)
        await given.store.trigger("a", force=False, **ASK)
        await given.clock.advance(minutes=2)
        assert len(gate.began) == 1
        gate.open()
        await given.clock.advance(minutes=1)
        assert len(gate.ended) == 2


async def test_a_forced_trigger_overlaps_what_runs_elsewhere(given: Given) -> None:
    """F-PAUSE: unless forced; within one replica an id still has one run at a time (J-ONE)."""
    gate = Gate()
    busy, free = given.scheduler(given.store, replica="busy"), given.scheduler(given.store, replica="free")
    busy.add("a", every(10 * MINUTE), gate.named("busy"))
    async with busy:
        await given.clock.advance(minutes=10)
        free.add("a", every(10 * MINUTE), gate.named("free"))
        async with free:
            await given.store.trigger("a", force=True, **ASK)
            await given.clock.advance(minutes=1)
            assert gate.began == ["busy", "free"]
            gate.open()
            await given.clock.advance(minutes=1)


async def test_a_run_is_cancelled_wherever_it_is(given: Given) -> None:
    """F-PAUSE: by whoever reaches the store; the cause says who and why."""
    causes: list[Cancelled | None] = []
    gate = Gate()

    async def body(run: Run) -> None:
        try:
            await gate.named("a")()
        finally:
            causes.append(run.cause)

    scheduler = given.scheduler(given.store)
    scheduler.add("a", every(10 * MINUTE), body)
    async with scheduler:
        await given.clock.advance(minutes=10)
        [tick] = await given.store.cancel("a", scheduled_at=None, **ASK)
        await given.clock.advance(minutes=1)
        assert [type(cause) for cause in causes] == [Cancelled]
        assert "ops@desk" in str(causes[0])
        [row] = await rows(given)
        assert (row.tick, row.verdict, row.wanted) == (tick, Verdict.CANCELLED, None)
        gate.open()
        await given.clock.advance(minutes=10)
        assert given.recorder.ran("a") != []


async def test_what_is_asked_is_done_without_waiting_for_a_beat_where_the_store_can_tell(
    given: Given,
) -> None:
    """F-PAUSE: a trigger starts at once where replicas can be woken."""
    scheduler = given.scheduler(given.store)
    scheduler.add("a", every(10 * MINUTE), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=1)
        await given.store.trigger("a", force=False, **ASK)
        await given.clock.advance(seconds=1)
        assert len(given.recorder.ran("a")) == 1
