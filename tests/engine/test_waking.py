"""When the ticker wakes, and what it hands out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from onebeat import Limit, every
from onebeat.events import ClockStepped, ScheduleFailed, TicksPassedOver
from onebeat.model import Outcome, Reason, Tick
from onebeat.schedules.agenda import Agenda
from onebeat.testing.clock import FakeClock, FakeTimer
from tests.engine.given import Gate, Given, Through

START = datetime(2026, 1, 1, tzinfo=UTC)


def seconds_of(ticks: list[datetime]) -> list[float]:
    return [(tick - START).total_seconds() for tick in ticks]


async def test_nothing_fires_at_start_and_every_tick_fires_at_its_instant(given: Given) -> None:
    """W-FIRST, W-EYES, W-LATENESS: not early, not twice."""
    lateness: list[float] = []
    scheduler = given.scheduler()
    scheduler.add("a", every(10), lambda run: lateness.append(run.lateness))
    async with scheduler:
        await given.clock.advance(seconds=9.999)
        assert given.recorder.ended() == []
        await given.clock.advance(seconds=20.001)
    assert seconds_of(given.recorder.ran("a")) == [10, 20, 30]
    assert lateness == [0, 0, 0]


async def test_a_year_passes_without_a_wake_between_its_ticks(given: Given) -> None:
    """W-EYES: a fake clock knows when the wall clock will be there; nobody has to look every two seconds."""
    looked = 0

    class Counting(FakeClock):
        def call_at(self, moment: datetime | None, call: Callable[[], object]) -> FakeTimer:
            nonlocal looked
            looked += 1
            return super().call_at(moment, call)

    given.clock = Counting()
    scheduler = given.scheduler()
    scheduler.add("a", "@daily", lambda: None)
    async with scheduler:
        await given.clock.advance(days=365)
    assert len(given.recorder.ran("a")) == 365
    assert looked < 2 * 365


async def test_a_late_wake_runs_the_latest_tick_only_and_counts_the_rest(given: Given) -> None:
    """W-LATE: a suspended machine owes each job one run."""
    scheduler = given.scheduler()
    scheduler.add("a", every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=10)
        await given.clock.jump(seconds=45)
        await given.clock.settle()
    assert seconds_of(given.recorder.ran("a")) == [10, 50]
    [passed] = given.recorder.of(TicksPassedOver)
    assert (passed.job_id, passed.count, passed.exact) == ("a", 3, True)
    assert given.recorder.ended("a")[-1].delay == 5


async def test_a_clock_set_ahead_is_noticed_within_seconds(given: Given) -> None:
    """W-EYES, W-LATE: no sleep outlasts a step."""
    scheduler = given.scheduler()
    scheduler.add("a", every(hours=1), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=1)
        given.clock.step(timedelta(hours=1))
        await given.clock.advance(seconds=5)
    assert seconds_of(given.recorder.ran("a")) == [3600]


async def test_a_clock_set_back_a_minute_is_followed_and_claims_keep_ticks_from_running_twice(
    given: Given,
) -> None:
    """W-BACK: those instants are evaluated again as they pass."""
    scheduler = given.scheduler(given.store)
    scheduler.add("claimed", every(60), lambda: None)
    scheduler.add("everywhere", every(60), lambda: None, on_every_replica=True)
    async with scheduler:
        await given.clock.advance(seconds=121)
        given.clock.step(timedelta(seconds=-90))
        await given.clock.advance(seconds=100)
    assert seconds_of(given.recorder.ran("claimed")) == [60, 120]
    assert seconds_of(given.recorder.ran("everywhere")) == [60, 120, 60, 120]
    assert [stepped.seconds for stepped in given.recorder.of(ClockStepped)] != []


async def test_a_smaller_step_back_waits_for_the_clock_to_pass_the_last_instant(given: Given) -> None:
    """W-BACK: without a store too, nothing runs twice."""
    scheduler = given.scheduler()
    scheduler.add("a", every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=21)
        given.clock.step(timedelta(seconds=-15))
        await given.clock.advance(seconds=30)
    assert seconds_of(given.recorder.ran("a")) == [10, 20, 30]
    assert given.recorder.of(ClockStepped) == []


async def test_stopped_amid_many_ticks_every_tick_still_gets_its_outcome(given: Given) -> None:
    """T-METRIC, X-STOP: the loop has its turns while ticks are handed out; who was not yet is skipped."""
    scheduler = given.scheduler(given.store)
    for number in range(1_000):
        scheduler.add(f"{number:04}", every(60), scheduler.stop)
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=61)
    await serving
    ended = given.recorder.ended()
    assert len(ended) == len({event.tick for event in ended}) == 1_000
    assert {event.reason for event in ended if event.outcome is Outcome.SKIPPED} == {Reason.CANCELLED}


async def test_a_due_tick_of_a_busy_id_is_skipped_before_any_claim(given: Given) -> None:
    """J-DUE: for the whole wake, and whatever the id is busy with."""

    store, gate = Through(given.store), Gate()
    scheduler = given.scheduler(store)
    scheduler.add("a", every(10), lambda: None)
    async with scheduler:
        scheduler.run_once("a", gate.named("on demand"))
        await given.clock.advance(seconds=11)
        gate.open()
        await given.clock.advance(seconds=10)
    first, second = given.recorder.ended("a")
    assert (first.outcome, first.reason) == (Outcome.SKIPPED, Reason.BUSY)
    assert second.outcome is Outcome.RAN
    assert [[bid.tick for bid in bids] for bids in store.claims] == [[second.tick]]


async def test_a_tick_too_late_is_skipped_before_the_claim(given: Given) -> None:
    """W-TOO-LATE: judged before the claim; other jobs are never too late."""

    store = Through(given.store)
    scheduler = given.scheduler(store)
    scheduler.add("strict", every(10), lambda: None, late=3)
    scheduler.add("patient", every(10), lambda: None)
    async with scheduler:
        await given.clock.jump(seconds=14)
        await given.clock.settle()
    [skipped] = given.recorder.ended("strict")
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, Reason.LATE)
    assert seconds_of(given.recorder.ran("patient")) == [10]
    assert [bid.tick.job_id for bids in store.claims for bid in bids] == ["patient"]


async def test_a_tick_too_late_after_its_permit_is_skipped_and_released(given: Given) -> None:
    """W-TOO-LATE: judged once more after the permit."""

    store, gate = Through(given.store), Gate()
    scheduler = given.scheduler(store, limits=[Limit("w:", 1)])
    scheduler.add("w:a", every(10), lambda: None, late=3)
    async with scheduler:
        scheduler.run_once("w:other", gate.named("holds the permit"))
        await given.clock.advance(seconds=14)
        gate.open()
        await given.until_quiet()
        assert scheduler.active == 0
    [skipped] = given.recorder.ended("w:a")
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, Reason.LATE)
    assert [release.tick for batch in store.releases for release in batch] == [skipped.tick]


async def test_jobs_come_and_go_while_serving(given: Given) -> None:
    """J-ADD: added, a job's first tick lies after that moment; removed, its current run still ends."""

    gate = Gate()
    scheduler = given.scheduler()
    async with scheduler:
        await given.clock.advance(seconds=10)
        scheduler.add("a", every(10), gate.named("a"))
        await given.until_quiet()
        assert gate.began == []
        await given.clock.advance(seconds=10)
        assert scheduler.remove("a")
        assert not scheduler.remove("a")
        await given.clock.advance(seconds=30)
        gate.open()
        await given.until_quiet()
    assert (gate.began, gate.ended) == (["a"], ["a"])
    assert seconds_of(given.recorder.ran("a")) == [20]


class Broken:
    """A schedule written elsewhere that works once."""

    def __init__(self, later: Any) -> None:
        self._later = later

    def next_after(self, moment: datetime) -> datetime | None:
        return START + timedelta(seconds=5) if moment < START + timedelta(seconds=5) else self._later()

    def previous_before(self, moment: datetime) -> datetime | None:
        return None

    def matches(self, moment: datetime) -> bool:
        return False


async def test_a_schedule_that_raises_or_answers_nonsense_ends_its_own_job_only(given: Given) -> None:
    """T-EVENT: errors in what users write never end the scheduler."""

    def fail() -> None:
        raise ZeroDivisionError

    scheduler = given.scheduler()

    def leave() -> None:
        raise SystemExit

    scheduler.add("raises", Broken(fail), lambda: None)
    scheduler.add("leaves", Broken(leave), lambda: None)
    scheduler.add("stands", Broken(lambda: START), lambda: None)
    scheduler.add("naive", Broken(lambda: datetime(2027, 1, 1)), lambda: None)  # noqa: DTZ001
    scheduler.add("good", every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=25)
    failed = {event.job_id: type(event.error) for event in given.recorder.of(ScheduleFailed)}
    assert failed == {
        "leaves": SystemExit,
        "raises": ZeroDivisionError,
        "stands": ValueError,
        "naive": TypeError,
    }
    assert seconds_of(given.recorder.ran("good")) == [10, 20]
    assert seconds_of(given.recorder.ran("raises")) == [5]


@dataclass(frozen=True)
class Odd:
    """Every second; looks back as it is told, and breaks after a while."""

    back: datetime = START
    ends: datetime = START + timedelta(days=9)

    def next_after(self, moment: datetime) -> datetime | None:
        if moment >= self.ends:
            raise ZeroDivisionError
        return moment + timedelta(seconds=1)

    def previous_before(self, moment: datetime) -> datetime | None:
        return self.back

    def matches(self, moment: datetime) -> bool:
        return True


async def test_a_job_added_to_a_schedule_that_has_failed_is_told_of_too(given: Given) -> None:
    """T-EVENT: a job without ticks never looks like one that only waits."""
    scheduler = given.scheduler()
    scheduler.add("a", Odd(ends=START), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=2)
        scheduler.add("b", Odd(ends=START), lambda: None)
        await given.clock.advance(seconds=2)
    assert [event.job_id for event in given.recorder.of(ScheduleFailed)] == ["a", "b"]


@pytest.mark.parametrize(
    "back",
    [datetime(2027, 1, 1), START + timedelta(days=9)],  # noqa: DTZ001
    ids=["naive", "to come"],
)
def test_a_schedule_that_looks_back_wrongly_ends_nothing_and_fires_nothing_early(back: datetime) -> None:
    """T-EVENT, W-EYES: also where more ticks were due than can be counted."""
    agenda = Agenda()
    agenda.add("a", Odd(back), START)
    now = START + timedelta(seconds=150_000)
    [owed] = agenda.owed(now)
    assert owed.tick.scheduled_at <= now
    assert len(agenda.failures()) == (back.tzinfo is None)


def test_more_ticks_than_can_be_counted_are_passed_over_at_once() -> None:
    """W-LATE: a clock that jumps a year ahead costs no minutes of counting."""
    agenda = Agenda()
    agenda.add("a", every(1), START)
    [owed] = agenda.owed(START + timedelta(days=365))
    assert owed.tick == Tick("a", START + timedelta(days=365))
    assert (owed.exact, owed.passed_over >= 100_000) == (False, True)
    assert agenda.next_due() == START + timedelta(days=365, seconds=1)


@for_all(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.lists(st.integers(0, 40), max_size=20))
def test_however_a_replica_wakes_each_job_gets_its_latest_due_tick_and_no_tick_is_uncounted(
    periods: list[int], sleeps: list[int]
) -> None:
    """W-LATE: what is owed plus what is passed over is what was due."""
    agenda = Agenda()
    for number, period in enumerate(periods):
        agenda.add(f"job {number}", every(period), START)
    now, counted = START, dict.fromkeys(range(len(periods)), 0)
    for sleep in sleeps:
        now += timedelta(seconds=sleep)
        for owed in agenda.owed(now):
            number = int(owed.tick.job_id.removeprefix("job "))
            counted[number] += 1 + owed.passed_over
            assert owed.tick.scheduled_at <= now < owed.tick.scheduled_at + timedelta(seconds=periods[number])
    for number, period in enumerate(periods):
        first = every(period).next_after(START)
        assert first is not None
        due = max(0, (now - first) // timedelta(seconds=period) + 1)
        assert counted[number] == due
