"""Work on demand, keyed by id, in one scheduler."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from onebeat import CancelToken, InvalidJob, Limit, Run, Superseded, TimedOut
from onebeat.events import RunDropped
from onebeat.model import Outcome, Reason
from tests.engine.given import Gate, Given, Through


async def test_run_once_starts_an_idle_id_and_refuses_a_busy_one(given: Given) -> None:
    """J-ONCE, J-ONE: a busy id stays as it is, its pending run too."""
    gate = Gate()
    async with given.scheduler() as scheduler:
        assert scheduler.run_once("a", gate.named("first"))
        assert scheduler.run_next("a", gate.named("pending"))
        assert not scheduler.run_once("a", gate.named("refused"))
        gate.open()
        await given.until_quiet()
    assert gate.ended == ["first", "pending"]


async def test_run_next_replaces_the_pending_run_and_cancels_nothing(given: Given) -> None:
    """J-NEXT: the newest pending run is the one that runs."""
    gate = Gate()
    async with given.scheduler() as scheduler:
        for name in ("first", "second", "third"):
            assert scheduler.run_next("a", gate.named(name))
        await given.until_quiet()
        gate.open()
        await given.until_quiet()
    assert (gate.ended, gate.cancelled) == (["first", "third"], [])
    [dropped] = given.recorder.of(RunDropped)
    assert isinstance(dropped.cause, Superseded)


async def test_supersede_cancels_the_current_run_and_takes_the_pending_place(given: Given) -> None:
    """J-SUPER: without waiting; the cause is Superseded."""
    gate = Gate()
    async with given.scheduler() as scheduler:
        scheduler.run_once("a", gate.named("first"))
        scheduler.run_next("a", gate.named("second"))
        await given.until_quiet()
        assert scheduler.supersede("a", gate.named("third"))
        gate.open()
        await given.until_quiet()
    assert (gate.cancelled, gate.ended) == (["first"], ["third"])
    first = given.recorder.runs("a")[0]
    assert (first.outcome, first.reason) == (Outcome.FAILED, Reason.CANCELLED)
    assert isinstance(first.error, Superseded)


async def test_a_run_superseded_by_its_own_body_still_frees_its_id(given: Given) -> None:
    """J-SUPER, C-RELEASE: a cancellation the body never met does not leak into what follows."""
    ran: list[str] = []
    async with given.scheduler(given.store) as scheduler:

        @scheduler.every(seconds=1, job_id="a")
        async def first() -> None:
            scheduler.supersede("a", lambda: ran.append("second"))

        await given.clock.advance(seconds=1.5)
        assert scheduler.active == 0
    assert ran == ["second"]


async def test_the_verbs_refuse_what_cannot_run(given: Given) -> None:
    """J-NO: an empty id, no work, a cancelled token, a deadline that has passed."""
    token = CancelToken()
    token.cancel()
    now = given.clock.now()
    async with given.scheduler() as scheduler:
        for verb in (scheduler.run_once, scheduler.run_next, scheduler.supersede):
            assert not verb("", print)
            assert not verb("a", None)
            assert not verb("a", print, cancel=token)
            assert not verb("a", print, deadline=now)
            with pytest.raises(InvalidJob, match="work"):
                verb("a", "no function")  # type: ignore[arg-type]
            with pytest.raises(InvalidJob, match="deadline"):
                verb("a", print, deadline=now.replace(tzinfo=None))
        assert scheduler.active == 0


async def test_before_the_start_work_waits_for_it_and_after_stopping_it_is_refused(given: Given) -> None:
    """J-VERBS: accepted before start, False while and after stopping."""
    ran: list[str] = []
    scheduler = given.scheduler()
    assert scheduler.run_once("early", lambda: ran.append("early"))
    await given.until_quiet()
    assert (ran, scheduler.active) == ([], 1)
    async with scheduler:
        await given.until_quiet()
    assert ran == ["early"]
    assert not scheduler.run_once("late", lambda: ran.append("late"))


async def test_the_verbs_can_be_called_from_any_thread(given: Given) -> None:
    """J-VERBS: of a hundred threads that start one id, one succeeds."""
    gate = Gate()
    started: list[bool] = []
    async with given.scheduler() as scheduler:
        work = gate.named("one")
        threads = [
            threading.Thread(target=lambda: started.append(scheduler.run_once("a", work))) for _ in range(100)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        await given.until_quiet()
        gate.open()
        await given.until_quiet()
    assert (started.count(True), gate.ended) == (1, ["one"])


@pytest.mark.parametrize("place", ["running", "pending", "waiting"])
async def test_a_token_cancelled_later_cancels_the_work_wherever_it_is(given: Given, place: str) -> None:
    """J-NO: pending, waiting for a permit, or running."""
    gate, token = Gate(), CancelToken()
    async with given.scheduler(limits=[Limit("w:", 1)]) as scheduler:
        if place == "pending":
            scheduler.run_once("w:a", gate.named("other"))
        if place == "waiting":
            scheduler.run_once("w:b", gate.named("other"))
        await given.until_quiet()
        assert scheduler.run_next("w:a", gate.named("called off"), cancel=token)
        await given.until_quiet()
        token.cancel("not wanted any more")
        await given.until_quiet()
        gate.open()
        await given.until_quiet()
        assert scheduler.active == 0
    assert "called off" not in gate.ended
    assert (gate.cancelled == ["called off"]) is (place == "running")
    told = given.recorder.errors() + [dropped.cause for dropped in given.recorder.of(RunDropped)]
    assert "not wanted any more" in {str(error) for error in told}


async def test_a_deadline_takes_the_place_of_the_job_timeout(given: Given) -> None:
    """J-TIME: longer or shorter, and over while waiting for a permit too."""
    gate = Gate()
    now = given.clock.now()
    async with given.scheduler(timeout=10, limits=[Limit("w:", 1)]) as scheduler:
        scheduler.run_once("w:long", gate.named("long"), deadline=now + timedelta(seconds=30))
        scheduler.run_once("w:waits", gate.named("waits"), deadline=now + timedelta(seconds=5))
        await given.clock.advance(seconds=5)
        assert scheduler.active == 1
        await given.clock.advance(seconds=24)
        assert gate.cancelled == []
        await given.clock.advance(seconds=1)
        assert gate.cancelled == ["long"]
    [dropped] = given.recorder.of(RunDropped)
    assert (dropped.job_id, type(dropped.cause)) == ("w:waits", TimedOut)


async def test_a_pending_run_whose_deadline_is_over_by_its_turn_is_dropped(given: Given) -> None:
    """J-NO: it frees the id instead of running late."""
    gate = Gate()
    async with given.scheduler() as scheduler:
        scheduler.run_once("a", gate.named("first"))
        scheduler.run_next("a", gate.named("late"), deadline=given.clock.now() + timedelta(seconds=1))
        await given.clock.advance(seconds=2)
        gate.open()
        await given.until_quiet()
        assert scheduler.active == 0
    assert gate.ended == ["first"]


async def test_active_counts_busy_ids_and_a_pending_run_adds_nothing(given: Given) -> None:
    """J-ACTIVE: running and waiting for a permit count, pending does not."""
    gate = Gate()
    async with given.scheduler(limits=[Limit("w:", 1)]) as scheduler:
        scheduler.run_once("w:a", gate.named("runs"))
        scheduler.run_once("w:b", gate.named("waits"))
        scheduler.run_next("w:b", gate.named("pending"))
        await given.until_quiet()
        assert scheduler.active == 2
        gate.open()
        await given.until_quiet()
        assert scheduler.active == 0


async def test_idle_keeps_one_signal_and_gives_none_between_a_run_and_its_pending_run(given: Given) -> None:
    """J-ACTIVE: it waits for the signal, not for the state."""

    gate = Gate()
    async with given.scheduler() as scheduler:
        waiting = asyncio.ensure_future(scheduler.idle())
        await given.until_quiet()
        assert not waiting.done()  # nothing is busy, and nothing has ended either
        scheduler.run_once("a", gate.named("first"))
        scheduler.run_next("a", gate.named("second"))
        await given.until_quiet()
        gate.open()
        await given.until_quiet()
        assert waiting.done()
        kept = asyncio.ensure_future(scheduler.idle())
        await given.until_quiet()
        assert not kept.done()  # one signal for both runs, and one waiter had it
        kept.cancel()
        for name in ("b", "c"):
            scheduler.run_once(name, gate.named(name))
            await given.until_quiet()
        await scheduler.idle()  # two signals merged into the one that was kept
        again = asyncio.ensure_future(scheduler.idle())
        await given.until_quiet()
        assert not again.done()
        again.cancel()


async def test_a_signal_given_to_a_waiter_that_is_cancelled_goes_to_the_next(given: Given) -> None:
    """J-ACTIVE: it wakes one waiter that is there to be woken."""

    gate = Gate()
    async with given.scheduler() as scheduler:
        first, second = (asyncio.ensure_future(scheduler.idle()) for _ in range(2))
        scheduler.run_once("a", gate.named("a"))
        await given.until_quiet()
        first.cancel()
        gate.open()
        await given.until_quiet()
        assert second.done()


async def test_on_demand_work_never_asks_the_store_and_carries_the_callers_context(given: Given) -> None:
    """C-DEMAND, J-BODY: it runs where it was called, with the context variables of that place."""

    place: ContextVar[str] = ContextVar("place", default="nowhere")
    seen: list[Any] = []
    store = Through(given.store)

    async with given.scheduler(store) as scheduler:
        place.set("here")

        async def on_the_loop(run: Run) -> None:
            seen.append((place.get(), run.tick, run.fence))

        scheduler.run_once("a", on_the_loop)
        scheduler.run_once("b", lambda: seen.append((place.get(), None, None)))
        await given.until_quiet()
    assert seen == [("here", None, None)] * 2
    assert store.claims == []


def test_a_deadline_beyond_all_calendars_is_refused(given: Given) -> None:
    """J-VERBS: the year 10000 in UTC is no instant."""
    beyond = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
    with pytest.raises(InvalidJob, match="deadline"):
        given.scheduler().run_once("a", lambda: None, deadline=beyond)
