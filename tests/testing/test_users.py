"""What users do with the fake clock: whole schedulers, on this loop or in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta

from onebeat.engine.run import Run
from onebeat.events import TicksPassedOver
from onebeat.model import Outcome, Reason
from onebeat.scheduler import Scheduler
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock, Recorder

START = datetime(2026, 1, 1, tzinfo=UTC)


async def test_every_due_tick_has_fired_when_advance_returns(
    onebeat_clock: FakeClock, onebeat_store: MemoryStore, onebeat_recorder: Recorder
) -> None:
    scheduler = Scheduler(onebeat_store, clock=onebeat_clock, observers=[onebeat_recorder])
    seen: list[tuple[datetime, float]] = []

    @scheduler.every(minutes=1, job_id="minute")
    async def minute(run: Run) -> None:
        await onebeat_clock.sleep(5)
        seen.append((onebeat_clock.now(), run.lateness))

    async with scheduler:
        await onebeat_clock.advance(minutes=10)
        await onebeat_clock.advance(seconds=5)
    assert seen == [(START + timedelta(minutes=n, seconds=5), 0.0) for n in range(1, 11)]
    assert onebeat_recorder.outcomes() == {Outcome.RAN: 10}


async def test_plain_functions_in_threads_are_waited_for(
    onebeat_clock: FakeClock, onebeat_store: MemoryStore
) -> None:
    scheduler = Scheduler(onebeat_store, clock=onebeat_clock)
    seen: list[datetime] = []

    @scheduler.every(hours=1, job_id="hour")
    def hour() -> None:
        threading.Event().wait(0.01)  # real work, which takes real time
        seen.append(onebeat_clock.now())

    async with scheduler:
        await onebeat_clock.advance(hours=3)
    assert seen == [START + timedelta(hours=n) for n in (1, 2, 3)]


async def test_after_a_suspend_each_job_runs_once_for_its_latest_tick(
    onebeat_clock: FakeClock, onebeat_store: MemoryStore, onebeat_recorder: Recorder
) -> None:
    """W-LATE: the fake clock can suspend the machine."""
    scheduler = Scheduler(onebeat_store, clock=onebeat_clock, observers=[onebeat_recorder])
    scheduler.add("hour", "@hourly", lambda: None)
    async with scheduler:
        await onebeat_clock.jump(hours=5)
    assert onebeat_recorder.ran("hour") == [START + timedelta(hours=5)]
    assert [event.count for event in onebeat_recorder.of(TicksPassedOver)] == [4]


async def test_a_timeout_of_an_hour_takes_no_time(
    onebeat_clock: FakeClock, onebeat_store: MemoryStore, onebeat_recorder: Recorder
) -> None:
    scheduler = Scheduler(onebeat_store, clock=onebeat_clock, observers=[onebeat_recorder])

    @scheduler.daily(1, job_id="stuck", timeout=3600)
    async def stuck() -> None:
        await asyncio.Event().wait()

    async with scheduler:
        await onebeat_clock.advance(hours=2)
    (run,) = onebeat_recorder.runs("stuck")
    assert (run.reason, run.duration) == (Reason.TIMED_OUT, 3600.0)


def test_a_scheduler_in_a_thread_of_its_own_is_driven_from_here() -> None:
    clock, recorder = FakeClock(), Recorder()
    scheduler = Scheduler(MemoryStore(clock=clock), clock=clock, observers=[recorder])
    seen: list[str] = []
    scheduler.add("hour", "@hourly", lambda: seen.append(threading.current_thread().name))
    background = scheduler.start_background()
    asyncio.run(clock.advance(hours=3))
    background.stop()
    assert len(seen) == 3
    assert threading.current_thread().name not in seen
    assert len(recorder.ran("hour")) == 3
