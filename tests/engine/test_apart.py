"""How long a tick is left to the replicas it prefers, before it is asked for here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onebeat import every
from onebeat.engine.admitting import Admitting
from onebeat.engine.job import Policy
from onebeat.engine.roster import HEAD_START
from onebeat.model import Tick
from onebeat.schedule import Schedule
from onebeat.testing import FakeClock

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
IDS = ("here", "there")


async def waited(schedule: Schedule, lead: float) -> timedelta:
    """Until a tick is admitted that prefers the other one of two, where the own clock leads."""
    clock = FakeClock(NOON)
    admitted: list[datetime] = []

    def run_once(_: object) -> bool:
        admitted.append(clock.now())
        return True

    slots = SimpleNamespace(is_busy=lambda _: False, run_once=run_once)
    here = SimpleNamespace(clock=clock, new_id=lambda: "run", replica=SimpleNamespace(label="here"))
    job = SimpleNamespace(id="a", schedule=schedule, policy=Policy(), body=None)
    admitting = Admitting(cast(Any, here), cast(Any, slots), cast(Any, {"a": job}), None)
    admitting.roster.know(IDS, "here", timedelta(seconds=lead))
    ticks = (Tick("a", NOON + timedelta(seconds=number)) for number in range(100))
    admitting.due(next(tick for tick in ticks if admitting.roster.rank(tick)))
    while not admitted:
        await clock.advance(seconds=0.05)
    return admitted[0] - NOON


@pytest.mark.parametrize(("period", "lead"), [(60, 0.0), (60, 4.0), (60, 100.0), (1, 0.0), (1, 0.4)])
async def test_the_preferred_have_their_head_start_and_the_lead(period: int, lead: float) -> None:
    """C-FAIR."""
    assert await waited(every(period), lead) == HEAD_START + timedelta(seconds=min(lead, 5))


@pytest.mark.parametrize("period", [1, 2, 4])
async def test_a_clock_that_leads_asks_before_the_jobs_next_tick_is_due(period: int) -> None:
    """C-FAIR: claimed first, that would have passed this one over."""
    assert await waited(every(period), 100) == timedelta(seconds=period) * 3 / 4
