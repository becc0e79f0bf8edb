"""What a scheduler knows of the life before it."""

from __future__ import annotations

from datetime import datetime

import pytest

from onebeat import every
from tests.engine.given import Given


async def lives_apart(given: Given, *, shared: bool, between: float) -> list[datetime]:
    """The ticks that ran in a life of one tick, and in the next, which begins *between* seconds after it."""
    ran: list[datetime] = []
    for life in range(2):
        if life == 1 and between >= 0:
            await given.clock.jump(seconds=between)
        elif life == 1:
            given.clock.step(seconds=between)
        scheduler = given.scheduler(given.store if shared else None)
        scheduler.add("a", every(10), lambda run: ran.append(run.scheduled_at))
        async with scheduler:
            await given.clock.advance(seconds=10)
    return ran


@pytest.mark.parametrize("shared", [False, True], ids=["without a store", "with a store"])
async def test_ticks_while_nobody_was_up_are_not_made_up_for(given: Given, shared: bool) -> None:
    """W-MEMORY: a life begins with the first instant after its start."""
    first, second = await lives_apart(given, shared=shared, between=60)
    assert (second - first).total_seconds() == 70


async def test_without_a_store_a_new_life_on_a_clock_set_back_runs_a_tick_again(given: Given) -> None:
    """W-MEMORY: nothing is remembered across a restart."""
    first, second = await lives_apart(given, shared=False, between=-10)
    assert first == second


async def test_with_a_store_a_new_life_on_a_clock_set_back_does_not(given: Given) -> None:
    """C-ONE: after a restart with a slow clock."""
    ran = await lives_apart(given, shared=True, between=-10)
    assert len(ran) == 1
