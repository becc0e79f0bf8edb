"""F-FENCE: a body asks, before each effect, whether it still should; nobody else is asked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onebeat import Cancelled, LeaseLost, Run, every
from onebeat.model import Outcome, Reason
from tests.engine.given import Given


def test_a_run_that_was_cancelled_hears_why() -> None:
    """F-FENCE, J-CANCEL: the first cause, whatever comes after it."""
    run = Run("a", "1", replica="r")
    run.check()
    run.cancel(LeaseLost("taken over"))
    run.cancel(Cancelled("too late"))
    with pytest.raises(LeaseLost, match="taken over"):
        run.check()


@pytest.mark.parametrize("plain", [True, False])
async def test_a_run_whose_lease_is_over_has_lost_its_claim(given: Given, plain: bool) -> None:
    """F-FENCE: a frozen process says so before it has heard from the fleet; the tick counts as lost."""
    passed: list[float] = []

    def step(run: Run) -> None:
        run.check()
        passed.append(given.clock.monotonic())

    async def coroutine(run: Run) -> None:
        for _ in range(3):
            step(run)
            await given.clock.sleep(5)

    def function(run: Run) -> None:
        step(run)
        step(run)
        run.begin_lease(timedelta(0), given.clock.monotonic)
        step(run)

    async with given.scheduler(given.store) as scheduler:
        scheduler.add("a", every(3600), function if plain else coroutine, lease=10)
        await given.clock.advance(seconds=3600)
        await given.clock.advance(seconds=20)
    assert len(passed) == 2
    [ended] = given.recorder.ended("a")
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.LOST)


async def test_a_run_without_a_claim_or_a_lease_has_none_to_lose(given: Given) -> None:
    """F-FENCE: on demand, and where overlap is allowed."""

    async def body(run: Run) -> None:
        await given.clock.sleep(3000)
        run.check()

    async with given.scheduler(given.store) as scheduler:
        scheduler.add("allowed", every(3600), body, overlap="allow")
        scheduler.run_once("on demand", body)
        await given.clock.advance(seconds=3600)
        await given.clock.advance(seconds=3500)
    assert {ended.outcome for ended in given.recorder.runs()} == {Outcome.RAN}
