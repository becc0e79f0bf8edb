"""A replica's own clock: wrong by what the fleet gave it, and still while the replica is frozen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

from onebeat.clock import Clock
from onebeat.testing.clock import FakeClock
from onebeat.testing.skewed import SkewedClock

START = datetime(2026, 1, 1, tzinfo=UTC)


def clocks(*, offset: float = 0.0, drift: float = 0.0) -> tuple[FakeClock, SkewedClock, list[float]]:
    timeline = FakeClock()
    return timeline, SkewedClock(timeline, timedelta(seconds=offset), drift), []


def noting(timeline: FakeClock, fired: list[float]) -> Callable[[], None]:
    return lambda: fired.append(timeline.monotonic())


async def test_it_is_off_by_its_offset_and_gains_its_drift() -> None:
    timeline, own, _ = clocks(offset=-2, drift=0.5)
    as_clock: Clock = own
    await timeline.advance(seconds=10)
    assert as_clock.now() == START + timedelta(seconds=10 - 2 + 5)
    assert as_clock.monotonic() == 15


async def test_its_seconds_are_its_own() -> None:
    timeline, own, fired = clocks(drift=0.25)
    own.call_later(10, noting(timeline, fired))
    sleeping = asyncio.create_task(own.sleep(20))
    await timeline.advance(seconds=15)
    assert fired == [8.0]
    assert not sleeping.done()
    await timeline.advance(seconds=1)
    assert sleeping.done()


async def test_what_is_due_while_it_is_frozen_happens_at_the_thaw() -> None:
    timeline, own, fired = clocks()
    own.call_later(2, noting(timeline, fired))
    own.call_later(9, noting(timeline, fired))
    await timeline.advance(seconds=1)
    own.freeze(4.0000000001)  # finer than any timer
    own.freeze(2)  # a shorter freeze inside a longer one ends nothing
    await timeline.advance(seconds=20)
    assert fired == [5.0, 9.0]


async def test_a_timer_called_off_during_the_freeze_or_by_another_at_the_thaw_does_not_fire() -> None:
    timeline, own, fired = clocks()
    own.call_later(2, lambda: second.cancel())
    second = own.call_later(3, noting(timeline, fired))
    third = own.call_later(3, noting(timeline, fired))
    own.freeze(5)
    await timeline.advance(seconds=4)
    third.cancel()
    await timeline.advance(seconds=4)
    assert fired == []


async def test_a_timer_held_back_keeps_its_context() -> None:
    timeline, own, _ = clocks()
    colour: ContextVar[str] = ContextVar("colour", default="none")
    seen: list[str] = []
    colour.set("red")
    own.call_later(1, lambda: seen.append(colour.get()))
    colour.set("blue")
    own.freeze(5)
    await timeline.advance(seconds=6)
    assert seen == ["red"]


async def test_awake_waits_for_the_end_of_every_freeze() -> None:
    timeline, own, fired = clocks()

    async def wait() -> None:
        await own.awake()
        fired.append(timeline.monotonic())

    own.freeze(2)
    waiting = asyncio.create_task(wait())
    await timeline.advance(seconds=1)
    own.freeze(5)
    await timeline.advance(seconds=10)
    assert fired == [6.0]
    await waiting
    await own.awake()


async def test_the_dead_do_nothing_until_they_are_revived() -> None:
    timeline, own, fired = clocks()
    own.call_later(1, noting(timeline, fired))
    own.freeze(3)
    own.freeze(float("inf"))
    await timeline.advance(days=1)
    assert fired == []
    assert own.frozen
    own.revive()
    await timeline.settle()
    assert fired == [86_400.0]
