"""Answers that are kept for a while."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress

import pytest

from onebeat.testing import FakeClock
from onebeat.web.remembered import Lagging, Remembered


class Source:
    """Counts how often it is asked; answers when told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.open = asyncio.Event()
        self.open.set()
        self.error: Exception | None = None

    async def answer(self) -> int:
        self.asked += 1
        number = self.asked
        await self.open.wait()
        if self.error:
            raise self.error
        return number


async def test_an_answer_is_kept_for_its_time_and_then_made_anew() -> None:
    clock, source = FakeClock(), Source()
    kept: Remembered[int] = Remembered(60, clock=clock)
    assert [await kept.get("a", source.answer) for _ in range(3)] == [1, 1, 1]
    await clock.advance(seconds=59)
    assert await kept.get("a", source.answer) == 1
    assert await kept.get("b", source.answer) == 2
    await clock.advance(seconds=1)
    assert await kept.get("a", source.answer) == 3


async def test_many_who_ask_at_once_wait_for_one_answer() -> None:
    source = Source()
    source.open.clear()
    kept: Remembered[int] = Remembered()
    asking = [asyncio.create_task(kept.get("a", source.answer)) for _ in range(5)]
    await asyncio.sleep(0)
    asking[0].cancel()
    with suppress(asyncio.CancelledError):
        await asking[0]
    source.open.set()
    assert await asyncio.gather(*asking[1:]) == [1, 1, 1, 1]


async def test_an_error_is_told_and_not_kept() -> None:
    source = Source()
    source.error = ValueError("gone")
    kept: Remembered[int] = Remembered()
    with pytest.raises(ValueError, match="gone"):
        await kept.get("a", source.answer)
    source.error = None
    assert await kept.get("a", source.answer) == 2


async def test_an_error_that_nobody_waits_for_any_more_is_not_complained_of() -> None:
    complaints: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))
    source, remembered = Source(), Remembered[int](clock=FakeClock())
    source.open.clear()
    source.error = OSError("the store is away")
    asking = asyncio.create_task(remembered.get("a", source.answer))
    await asyncio.sleep(0)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    source.open.set()
    for _ in range(5):
        await asyncio.sleep(0)
    del asking, remembered
    gc.collect()
    assert complaints == []
    assert source.asked == 1


async def test_not_every_key_ever_asked_for_is_kept() -> None:
    source = Source()
    kept: Remembered[int] = Remembered()
    for key in range(150):
        await kept.get(key, source.answer)
    assert await kept.get(149, source.answer) == 150
    assert await kept.get(0, source.answer) == 151


async def test_what_takes_long_is_not_waited_for_and_told_once_it_is_there() -> None:
    clock, source = FakeClock(), Source()
    source.open.clear()
    lagging: Lagging[int] = Lagging(0, seconds=15, patience=0.001, clock=clock)
    assert [await lagging.get(source.answer) for _ in range(3)] == [0, 0, 0]
    source.open.set()
    assert await lagging.get(source.answer) == 1
    assert await lagging.get(source.answer) == 1
    await clock.advance(seconds=15)
    source.open.clear()
    assert await lagging.get(source.answer) == 1
    source.open.set()
    assert await lagging.get(source.answer) == 2
    assert source.asked == 2


async def test_what_takes_no_time_is_told_at_once() -> None:
    lagging: Lagging[int] = Lagging(0, seconds=15, patience=60, clock=FakeClock())
    assert await lagging.get(Source().answer) == 1


async def test_when_it_cannot_be_had_the_one_before_stands() -> None:
    clock, source = FakeClock(), Source()
    lagging: Lagging[int] = Lagging(0, seconds=15, patience=60, clock=clock)
    source.error = ValueError()
    assert await lagging.get(source.answer) == 0
    await clock.advance(seconds=15)
    source.error = None
    assert await lagging.get(source.answer) == 2
