"""Bodies: what may be one, where it runs, and what becomes of what it raises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from onebeat import InvalidJob, InvalidSetting, Limit, Run, TimedOut, current_run, every
from onebeat.engine.limit import checked_limits
from onebeat.events import RunEnded, RunStarted
from onebeat.model import Outcome, Reason
from onebeat.testing.clock import FakeClock
from tests.engine.given import Gate, Given


async def run_of(given: Given, body: Any, **settings: Any) -> Any:
    """The RunEnded of *body*, run once on demand."""
    async with given.scheduler(**settings) as scheduler:
        assert scheduler.run_once("a", body)
        await given.until_quiet()
    [ended] = given.recorder.runs("a")
    return ended


class Callable:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def __call__(self, run: Run) -> None:
        self.seen.append(run)


async def test_a_body_is_async_or_plain_and_takes_nothing_or_the_run(given: Given) -> None:
    """J-BODY: functions, partials, methods and callable objects alike."""
    seen: list[Any] = []

    async def async_with_run(run: Run) -> None:
        seen.append((run, current_run(), threading.get_ident()))

    def plain_with_run(run: Run) -> None:
        seen.append((run, current_run(), threading.get_ident()))

    instance = Callable()
    bodies: list[Any] = [async_with_run, plain_with_run, partial(async_with_run), instance]
    bodies += [partial(seen.append, "bound"), lambda: None, lambda x=1, *rest, **more: None]
    async with given.scheduler() as scheduler:
        for number, body in enumerate(bodies):
            assert scheduler.run_once(str(number), body)
        await given.until_quiet()
    assert {event.outcome for event in given.recorder.runs()} == {Outcome.RAN}
    runs = [entry for entry in seen if entry != "bound"]
    assert all(given_run is current for given_run, current, _ in runs)
    here = threading.get_ident()
    assert [thread == here for *_, thread in sorted(runs, key=lambda entry: entry[0].job_id)] == [
        True, False, True,
    ]  # fmt: skip
    assert len(instance.seen) == 1
    with pytest.raises(LookupError):
        current_run()


@pytest.mark.parametrize("body", [lambda a, b: None, lambda *, key: None])
def test_a_function_that_needs_more_than_the_run_is_refused(given: Given, body: Any) -> None:
    """J-ADD: at registration, not at the first tick."""
    scheduler = given.scheduler()
    with pytest.raises(InvalidJob, match="takes nothing or the run"):
        scheduler.add("a", every(60), body)
    assert scheduler.jobs == ()


async def test_context_variables_reach_a_worker_thread(given: Given) -> None:
    """J-BODY: carried over."""
    color: ContextVar[str] = ContextVar("color", default="none")
    seen: list[str] = []
    color.set("blue")
    await run_of(given, lambda: seen.append(color.get()))
    assert seen == ["blue"]


def raises(error: BaseException) -> Any:
    def body() -> None:
        raise error

    return body


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), SystemExit(3), StopIteration(), asyncio.CancelledError(), GeneratorExit()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_whatever_a_body_raises_is_one_failed_run(
    given: Given, kind: str, error: BaseException
) -> None:
    """J-BODY: it never ends the scheduler, and the id is free again."""

    async def body() -> None:
        raise error

    # Python itself turns StopIteration into RuntimeError where it leaves a coroutine.
    expected = RuntimeError if isinstance(error, StopIteration) else type(error)
    async with given.scheduler() as scheduler:
        scheduler.run_once("a", body if kind == "async" else raises(error))
        await given.until_quiet()
        assert scheduler.active == 0
        scheduler.run_once("b", lambda: None)
        await given.until_quiet()
    failed, ran = given.recorder.runs()
    assert (failed.outcome, failed.reason, type(failed.error)) == (Outcome.FAILED, None, expected)
    assert ran.outcome is Outcome.RAN


async def coroutine() -> None: ...


def generator() -> Iterator[None]:
    yield


async def async_generator() -> AsyncIterator[None]:
    yield


@pytest.mark.parametrize("mistake", [lambda: coroutine(), generator, async_generator])
async def test_a_body_that_returns_what_nobody_runs_has_failed(given: Given, mistake: Any) -> None:
    """J-BODY: a coroutine or a generator returned by mistake."""
    ended = await run_of(given, mistake)
    assert ended.outcome is Outcome.FAILED
    assert "nobody runs" in str(ended.error)


async def test_a_body_that_cancels_its_own_task_and_returns_has_run(given: Given) -> None:
    """J-BODY: a cancellation the body left behind hits nothing of what follows."""

    async def body() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    assert (await run_of(given, body)).outcome is Outcome.RAN


async def test_of_many_runs_due_at_one_instant_all_bodies_begin_before_one_end_is_told(given: Given) -> None:
    """W-LATENESS: writing up the first must not make the last late."""
    scheduler = given.scheduler()
    for number in range(50):
        scheduler.add(str(number), every(60), coroutine)
    async with scheduler:
        await given.clock.advance(seconds=60)
    kinds = [type(event) for event in given.recorder.events if isinstance(event, RunStarted | RunEnded)]
    assert kinds == [RunStarted] * 50 + [RunEnded] * 50


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_keyboard_interrupt_in_a_body_stops_the_scheduler_in_order(given: Given, kind: str) -> None:
    """J-BODY: one failed run, and serve() returns."""

    async def body() -> None:
        raise KeyboardInterrupt

    scheduler = given.scheduler()
    scheduler.add("a", every(10), body if kind == "async" else raises(KeyboardInterrupt()))
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=11)
    await serving
    [ended] = given.recorder.ended("a")
    assert isinstance(ended.error, KeyboardInterrupt)


async def test_the_job_timeout_cancels_an_async_body_once_and_its_finally_can_await(given: Given) -> None:
    """J-TIME, J-CANCEL: CancelledError once; `finally` may take its time."""
    steps: list[str] = []

    async def body(run: Run) -> None:
        try:
            await given.clock.sleep(100)
        finally:
            steps.append(type(run.cause).__name__)
            await given.clock.sleep(5)
            steps.append("cleaned up")

    scheduler = given.scheduler()
    scheduler.add("a", every(60), body, timeout=10)
    async with scheduler:
        await given.clock.advance(seconds=76)
    assert steps == ["TimedOut", "cleaned up"]
    [ended] = given.recorder.ended("a")
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.TIMED_OUT)
    assert isinstance(ended.error, TimedOut)


async def test_the_job_timeout_starts_after_the_permit(given: Given) -> None:
    """J-TIME: waiting for a permit does not count."""
    gate = Gate()
    scheduler = given.scheduler(timeout=10, limits=[Limit("w:", 1)])
    async with scheduler:
        deadline = given.clock.now().replace(hour=1)
        scheduler.run_once("w:first", gate.named("first"), deadline=deadline)
        scheduler.run_once("w:second", gate.named("second"))
        await given.clock.advance(seconds=50)
        gate.open()
        await given.until_quiet()
    assert gate.ended == ["first", "second"]


async def test_a_thread_is_told_of_its_cancellation_and_its_id_stays_busy_until_it_ends(given: Given) -> None:
    """J-CANCEL: cancelled, cause, wait() and raise_if_cancelled() let it end."""
    told = threading.Event()
    seen: list[Any] = []

    def body(run: Run) -> None:
        assert run.wait(30)
        seen.append((run.cancelled, type(run.cause)))
        told.wait(30)
        run.raise_if_cancelled()

    given.clock = FakeClock(patience=0.05)
    scheduler = given.scheduler(timeout=10)
    async with scheduler:
        scheduler.run_once("a", body)
        await given.clock.advance(seconds=20)
        assert scheduler.active == 1
        assert not scheduler.run_once("a", lambda: None)
        told.set()
        await scheduler.idle()
    assert seen == [(True, TimedOut)]
    [ended] = given.recorder.runs("a")
    assert (ended.reason, type(ended.error)) == (Reason.TIMED_OUT, TimedOut)


async def test_a_limit_lets_so_many_run_and_the_others_wait_in_order(given: Given) -> None:
    """J-LIMIT: on-demand and recurring alike; ids of other prefixes are not held up."""
    running: list[str] = []
    most = 0
    order: list[str] = []

    async def body(run: Run) -> None:
        nonlocal most
        running.append(run.job_id)
        order.append(run.job_id)
        most = max(most, len(running))
        await given.clock.sleep(1)
        running.remove(run.job_id)

    scheduler = given.scheduler(limits=[Limit("mail:", 2)])
    scheduler.add("mail:tick", every(60), body)
    async with scheduler:
        await given.clock.advance(seconds=59.5)
        for name in ("mail:1", "mail:2", "mail:3"):
            scheduler.run_once(name, body)
        await given.clock.advance(seconds=0.5)
        scheduler.run_once("other", lambda: order.append("other"))
        await given.until_quiet()
        assert scheduler.active == 4
        await given.clock.advance(seconds=10)
    assert most == 2
    assert order == ["mail:1", "mail:2", "other", "mail:3", "mail:tick"]


async def test_no_more_plain_bodies_run_than_there_are_threads(given: Given) -> None:
    """J-BODY: the rest wait, as for a permit."""
    go = threading.Event()
    running, most = 0, 0
    lock = threading.Lock()

    def body() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go.wait(30)
        with lock:
            running -= 1

    given.clock = FakeClock(patience=0.05)
    async with given.scheduler(threads=3) as scheduler:
        for number in range(10):
            scheduler.run_once(str(number), body)
        await given.until_quiet()
        assert scheduler.active == 10
        go.set()
        while scheduler.active:
            await scheduler.idle()
    assert most == 3


@pytest.mark.parametrize(
    "limits",
    [
        [Limit("a", 1), Limit("a", 2)],
        [Limit("a", 1), Limit("b", 1), Limit("ab", 1)],
        ["a"],
    ],
)
def test_limits_that_overlap_are_refused(limits: Any) -> None:
    """J-LIMIT: a prefix twice, or a prefix of another's prefix."""
    with pytest.raises(InvalidSetting, match="limits"):
        checked_limits(limits)


@pytest.mark.parametrize(("prefix", "n"), [("", 1), ("a", 0), ("a", -1), ("a", True), ("a", 1.5), (None, 1)])
def test_a_limit_without_prefix_or_permits_is_refused(prefix: Any, n: Any) -> None:
    """J-LIMIT: an empty prefix, n < 1."""
    with pytest.raises(InvalidSetting, match="limit"):
        Limit(prefix, n)
