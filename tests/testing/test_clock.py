"""The fake clock: nothing moves by itself, and nothing due is left out."""

import asyncio
import threading
import time
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.clock import Clock
from onebeat.errors import InvalidSetting
from onebeat.testing import FakeClock

START = datetime(2026, 1, 1, tzinfo=UTC)
delays = st.integers(0, 10**9).map(lambda microseconds: microseconds / 1_000_000)
any_delay = st.floats(min_value=0, max_value=1000, allow_nan=False)


def as_clock(clock: FakeClock) -> Clock:
    """The type checker's word that a FakeClock is a Clock."""
    return clock


async def test_time_stands_still_until_it_is_advanced() -> None:
    clock = FakeClock()
    await asyncio.sleep(0)
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    await clock.advance(days=1, hours=2, minutes=3, seconds=4.5)
    assert clock.now() == START + timedelta(days=1, hours=2, minutes=3, seconds=4.5)
    assert clock.monotonic() == 93_784.5


def test_a_start_in_another_zone_is_shown_in_utc_and_a_naive_one_refused() -> None:
    east = datetime.fromisoformat("2026-07-01T02:00:00+02:00")
    assert FakeClock(east).now().isoformat() == "2026-07-01T00:00:00+00:00"
    with pytest.raises(InvalidSetting, match="start"):
        FakeClock(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize("start", ["2026-01-01", None, datetime(2026, 1, 1)])  # noqa: DTZ001
def test_a_start_that_is_no_instant_is_refused(start: Any) -> None:
    with pytest.raises(InvalidSetting, match="start"):
        FakeClock(start)


@pytest.mark.parametrize("patience", [0, -1, float("nan"), float("inf"), "5"])
def test_a_patience_that_makes_no_sense_is_refused(patience: Any) -> None:
    with pytest.raises(InvalidSetting, match="patience"):
        FakeClock(patience=patience)


@pytest.mark.parametrize("units", [{"days": 10**7}, {"days": 10**12}, {"seconds": float("nan")}])
async def test_a_move_to_where_no_clock_can_go_is_refused_and_moves_nothing(units: Any) -> None:
    clock = FakeClock()
    for move in (clock.advance, clock.jump):
        with pytest.raises(InvalidSetting, match="years 1 to 9999"):
            await move(**units)
    with pytest.raises(InvalidSetting, match="years 1 to 9999"):
        clock.step(**units)
    with pytest.raises(InvalidSetting, match="seconds="):
        await clock.advance(5)  # type: ignore[arg-type]
    assert clock.now() == FakeClock().now()


async def test_time_cannot_pass_backwards() -> None:
    clock = FakeClock()
    with pytest.raises(InvalidSetting, match="step"):
        await clock.advance(seconds=-1)
    with pytest.raises(InvalidSetting):
        await clock.jump(timedelta(seconds=-1))


@given(st.lists(delays), delays)
def test_timers_fire_in_order_each_at_its_own_instant(wanted: list[float], end: float) -> None:
    async def scenario() -> None:
        clock = FakeClock()
        fired: list[float] = []
        for delay in wanted:
            clock.call_later(delay, lambda: fired.append(clock.monotonic()))
        await clock.advance(seconds=end)
        assert fired == sorted(delay for delay in wanted if delay <= end)

    asyncio.run(scenario())


@given(any_delay)
def test_no_timer_is_early_whatever_its_delay(delay: float) -> None:
    async def scenario() -> None:
        clock = FakeClock()
        fired: list[float] = []
        clock.call_later(delay, lambda: fired.append(clock.monotonic()))
        await clock.advance(seconds=1001)
        assert delay - 1e-9 <= fired[0] <= delay + 2e-6

    asyncio.run(scenario())


async def test_timers_of_one_instant_fire_in_the_order_they_were_asked_for() -> None:
    clock = FakeClock()
    fired: list[int] = []
    for number in range(5):
        clock.call_later(1, partial(fired.append, number))
    await clock.advance(seconds=1)
    assert fired == [0, 1, 2, 3, 4]


async def test_a_timer_called_off_does_not_fire_even_at_its_own_instant() -> None:
    clock = FakeClock()
    fired: list[str] = []
    early = clock.call_later(1, lambda: fired.append("early"))
    clock.call_later(2, lambda: late.cancel())
    late = clock.call_later(2, lambda: fired.append("late"))
    early.cancel()
    early.cancel()
    await clock.advance(seconds=3)
    assert fired == []


async def test_what_a_timer_starts_fires_within_the_same_advance_at_its_own_instant() -> None:
    clock = FakeClock()
    seen: list[float] = []

    async def every_second() -> None:
        while True:
            await clock.sleep(1)
            seen.append((clock.now() - START).total_seconds())

    task = asyncio.create_task(every_second())
    await clock.advance(hours=1)
    assert seen == list(range(1, 3601))
    task.cancel()


async def test_a_long_chain_of_steps_comes_to_rest_before_the_next_timer() -> None:
    clock = FakeClock()
    seen: list[tuple[str, float]] = []

    async def slow_to_settle() -> None:
        await clock.sleep(1)
        for _ in range(500):
            await asyncio.sleep(0)
        seen.append(("settled", clock.monotonic()))

    clock.call_later(1.5, lambda: seen.append(("next", clock.monotonic())))
    await asyncio.gather(slow_to_settle(), clock.advance(seconds=2))
    assert seen == [("settled", 1.0), ("next", 1.5)]


async def test_a_task_that_polls_without_sleeping_does_not_hold_time_for_ever() -> None:
    clock = FakeClock()

    async def poll() -> None:
        while clock.now() < START + timedelta(seconds=1):  # noqa: ASYNC110
            await asyncio.sleep(0)

    await asyncio.gather(poll(), clock.advance(seconds=1))


async def test_a_sleep_cancelled_leaves_no_timer_and_a_sleep_of_nothing_only_takes_a_turn() -> None:
    clock = FakeClock()
    sleeping = asyncio.create_task(clock.sleep(10))
    await clock.sleep(0)
    await clock.sleep(-1)
    sleeping.cancel()
    await clock.advance(seconds=20)
    assert sleeping.cancelled()
    assert clock.monotonic() == 20


async def test_two_clocks_are_independent() -> None:
    one, other = FakeClock(), FakeClock(START + timedelta(days=1))
    fired: list[str] = []
    one.call_later(1, lambda: fired.append("one"))
    other.call_later(1, lambda: fired.append("other"))
    await one.advance(seconds=5)
    assert fired == ["one"]
    assert other.now() == START + timedelta(days=1)
    await other.advance(seconds=5)
    assert fired == ["one", "other"]


async def test_a_step_moves_the_wall_clock_alone() -> None:
    clock = FakeClock()
    fired: list[datetime] = []
    clock.call_later(60, lambda: fired.append(clock.now()))
    clock.step(hours=1)
    await clock.settle()
    assert (clock.now(), clock.monotonic(), fired) == (START + timedelta(hours=1), 0.0, [])
    clock.step(hours=-2)
    await clock.advance(minutes=1)
    assert fired == [START - timedelta(hours=1) + timedelta(minutes=1)]


async def test_after_a_jump_everything_due_fires_late_and_at_once() -> None:
    clock = FakeClock()
    fired: list[tuple[str, float]] = []

    def again() -> None:
        fired.append(("first", clock.monotonic()))
        clock.call_later(5, lambda: fired.append(("too soon", clock.monotonic())))

    clock.call_later(1, again)
    clock.call_later(2, lambda: fired.append(("second", clock.monotonic())))
    await clock.jump(hours=1)
    assert fired == [("first", 3600.0), ("second", 3600.0)]
    assert clock.now() == START + timedelta(hours=1)


async def test_a_late_timer_called_off_by_the_one_before_it_does_not_fire() -> None:
    clock = FakeClock()
    fired: list[str] = []
    clock.call_later(1, lambda: second.cancel())
    second = clock.call_later(2, lambda: fired.append("second"))
    await clock.jump(seconds=10)
    assert fired == []


async def test_a_timer_keeps_the_context_it_was_asked_in() -> None:
    clock = FakeClock()
    colour: ContextVar[str] = ContextVar("colour", default="none")
    seen: list[str] = []
    colour.set("red")
    clock.call_later(1, lambda: seen.append(colour.get()))
    colour.set("blue")
    await clock.advance(seconds=1)
    assert seen == ["red"]


async def test_work_elsewhere_is_waited_for_before_time_goes_on() -> None:
    clock = FakeClock()
    ended: list[float] = []
    leave = threading.Event()

    async def in_a_thread() -> None:
        await clock.sleep(1)
        with clock.elsewhere():
            await asyncio.to_thread(leave.wait)
        ended.append(clock.monotonic())

    clock.call_later(1, lambda: threading.Timer(0.02, leave.set).start())
    await asyncio.gather(in_a_thread(), clock.advance(seconds=100))
    assert ended == [1.0]


async def test_what_stays_elsewhere_beyond_all_patience_is_left_behind_once() -> None:
    clock = FakeClock(patience=0.05)
    fired: list[float] = []
    stuck = threading.Event()

    async def in_a_thread() -> None:
        with clock.elsewhere():
            await asyncio.to_thread(stuck.wait)

    task = asyncio.create_task(in_a_thread())
    for second in range(1, 200):
        clock.call_later(second, lambda: fired.append(clock.monotonic()))
    began = time.monotonic()
    await clock.advance(seconds=200)
    assert len(fired) == 199
    assert time.monotonic() - began < 0.05 * 100  # not once for every timer
    stuck.set()
    await task


async def test_a_timer_runs_on_the_loop_that_asked_for_it_and_is_waited_for() -> None:
    clock = FakeClock()
    seen: list[tuple[int, float]] = []
    ready, over = threading.Event(), threading.Event()

    async def over_there() -> None:
        sleeping = asyncio.create_task(clock.sleep(1))
        await asyncio.sleep(0)
        ready.set()
        await sleeping
        await clock.sleep(1)
        seen.append((threading.get_ident(), clock.monotonic()))
        over.set()

    thread = threading.Thread(target=lambda: asyncio.run(over_there()))
    thread.start()
    ready.wait()
    await clock.advance(seconds=5)
    assert seen == [(thread.ident, 2.0)]
    over.wait()
    thread.join()
    await clock.advance(seconds=5)  # a loop that is gone is no reason to wait


async def test_moving_a_clock_that_is_moving_is_refused() -> None:
    clock = FakeClock()
    refused: list[str] = []

    async def meddle() -> None:
        await clock.sleep(1)
        try:
            await clock.advance(seconds=1)
        except RuntimeError as error:
            refused.append(str(error))

    await asyncio.gather(meddle(), clock.advance(seconds=3))
    assert len(refused) == 1
    await clock.advance(seconds=1)
    assert clock.monotonic() == 4
