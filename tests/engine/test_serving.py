"""Starting, stopping, and the faces that do both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import onebeat
from onebeat import (
    AlreadyRan,
    InvalidJob,
    InvalidSchedule,
    InvalidSetting,
    Run,
    Scheduler,
    ShuttingDown,
    every,
)
from onebeat.engine.here import identities
from onebeat.events import (
    Event,
    ForkIgnored,
    RunDropped,
    SchedulerStarted,
    SchedulerStopped,
    SchedulerStopping,
)
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock, FakeTimer
from tests.engine.given import Gate, Given, Through


async def test_a_scheduler_runs_once(given: Given) -> None:
    """X-STOP: starting it again is AlreadyRan, while it runs and after."""
    scheduler = given.scheduler()
    async with scheduler:
        with pytest.raises(AlreadyRan):
            await scheduler.serve()
    with pytest.raises(AlreadyRan):
        async with scheduler:
            pass


async def test_a_stop_before_the_start_ends_it_as_soon_as_it_has_begun(given: Given) -> None:
    """X-STOP: whoever asks for the end of what is only about to begin is heard."""
    scheduler = given.scheduler()
    scheduler.stop()
    await asyncio.wait_for(scheduler.serve(), 5)
    assert len(given.recorder.of(SchedulerStopped)) == 1


async def test_what_a_signal_handler_asks_for_while_the_scheduler_is_made_is_not_lost(given: Given) -> None:
    """J-VERBS, X-STOP: the handler runs in the middle of anything, the first use of a scheduler too."""
    gate, scheduler = Gate(), given.scheduler()

    def interrupted() -> str:
        identities.reset(before)
        assert scheduler.run_once("asked", gate.named("asked"))
        return "interrupted"

    before = identities.set(interrupted)
    async with scheduler:
        await given.until_quiet()
        assert gate.began == ["asked"]
        assert scheduler.active == 1


async def test_stopping_drops_what_is_pending_and_cancels_what_runs(given: Given) -> None:
    """X-STOP: the cause is ShuttingDown, for async and plain bodies alike."""
    gate = Gate()
    causes: list[type] = []
    began = threading.Event()

    def plain(run: Run) -> None:
        began.set()
        run.wait(30)
        causes.append(type(run.cause))

    scheduler = given.scheduler()
    serving = asyncio.ensure_future(scheduler.serve())
    await asyncio.sleep(0)
    scheduler.run_once("a", gate.named("runs"))
    scheduler.run_next("a", gate.named("pending"))
    scheduler.run_once("b", plain)
    await asyncio.to_thread(began.wait, 30)
    scheduler.stop()
    scheduler.stop()
    await serving
    assert (gate.cancelled, gate.ended, causes) == (["runs"], [], [ShuttingDown])
    [dropped] = given.recorder.of(RunDropped)
    assert isinstance(dropped.cause, ShuttingDown)
    [stopping] = given.recorder.of(SchedulerStopping)
    assert set(stopping.running) == {"a", "b"}
    assert [stopped.outlived for stopped in given.recorder.of(SchedulerStopped)] == [()]


async def test_it_waits_up_to_the_shutdown_timeout_and_names_what_outlived_it(given: Given) -> None:
    """X-STOP: then it returns."""
    free = asyncio.Event()

    async def stubborn() -> None:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue

    scheduler = given.scheduler(shutdown_timeout=20)
    serving = asyncio.ensure_future(scheduler.serve())
    await given.until_quiet()
    scheduler.run_once("stubborn", stubborn)
    await given.until_quiet()
    scheduler.stop()
    await given.clock.advance(seconds=19)
    assert not serving.done()
    await given.clock.advance(seconds=1)
    await serving
    [stopped] = given.recorder.of(SchedulerStopped)
    assert stopped.outlived == ("stubborn",)
    free.set()
    await given.until_quiet()


async def test_cancelling_serve_stops_in_order_and_the_cancellation_goes_on(given: Given) -> None:
    """X-STOP: a second cancellation stops waiting."""
    gate = Gate()
    scheduler = given.scheduler()
    serving = asyncio.ensure_future(scheduler.serve())
    await given.until_quiet()

    async def slow_to_end() -> None:
        try:
            await gate.named("a")()
        finally:
            await given.clock.sleep(30)

    scheduler.run_once("a", slow_to_end)
    await given.until_quiet()
    serving.cancel()
    await given.until_quiet()
    assert (gate.cancelled, serving.done()) == (["a"], False)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert [stopped.outlived for stopped in given.recorder.of(SchedulerStopped)] == [("a",)]
    await given.clock.advance(seconds=30)


async def test_an_observer_that_raises_changes_nothing(
    given: Given, caplog: pytest.LogCaptureFixture
) -> None:
    """T-EVENT: it is logged once."""

    def broken(event: Event) -> None:
        raise ZeroDivisionError

    broken.inline = True  # type: ignore[attr-defined]
    scheduler = Scheduler(None, clock=given.clock, observers=[broken, given.recorder])
    scheduler.add("a", every(10), lambda: None, on_every_replica=True)
    async with scheduler:
        await given.clock.advance(seconds=30)
    assert len(given.recorder.ran("a")) == 3
    assert sum(record.exc_info is not None for record in caplog.records) == 1


async def test_a_url_is_connected_and_closed_by_the_scheduler_a_store_is_not(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-POOL: what the app hands over stays open."""
    closed: list[MemoryStore] = []

    async def note(store: MemoryStore) -> None:
        closed.append(store)

    monkeypatch.setattr(MemoryStore, "close", note)
    async with given.scheduler(given.store):
        pass
    assert closed == []
    async with given.scheduler("memory://"):
        pass
    assert len(closed) == 1


def test_a_scheduler_in_the_background_serves_and_stops() -> None:
    """X-STOP: own thread, own loop; the verbs work from here."""
    done = threading.Event()
    scheduler = Scheduler()
    background = scheduler.start_background()
    try:
        assert background.running
        assert scheduler.run_once("a", done.set)
        assert done.wait(10)
        with pytest.raises(AlreadyRan):
            scheduler.start_background()
    finally:
        assert background.stop()
    assert background.stop()
    assert not background.running
    assert not scheduler.run_once("a", done.set)


def test_a_job_may_stop_the_background_scheduler_it_runs_on() -> None:
    """X-STOP: on the loop it cannot wait for its own end, and says that there is none yet."""
    answers: list[bool] = []
    stopped = threading.Event()
    scheduler = Scheduler()
    background = scheduler.start_background()

    async def body() -> None:
        try:
            answers.append(background.stop())
        finally:
            stopped.set()

    assert scheduler.run_once("a", body)
    assert stopped.wait(10)
    assert background.stop()
    assert answers == [False]


def test_a_pool_tied_to_a_loop_is_refused_in_the_background() -> None:
    """D-POOL: by name."""

    class Tied(MemoryStore):
        loop_bound = "some AsyncPool"  # type: ignore[assignment]

    with pytest.raises(InvalidSetting, match="some AsyncPool"):
        Scheduler(Tied()).start_background()


async def test_one_job_runs_until_told_to_stop() -> None:
    """X-STOP: the one-job form returns None."""
    began, stop = asyncio.Event(), asyncio.Event()
    cancelled: list[str] = []

    async def body() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("in flight")
            raise

    running = asyncio.ensure_future(
        onebeat.run(body, name="a", schedule="@every 1s", on_every_replica=True, stop=stop)
    )
    await asyncio.wait_for(began.wait(), 10)
    stop.set()
    await running
    assert cancelled == ["in flight"]


async def test_one_job_raises_for_a_bad_start_only() -> None:
    """X-STOP: a missing name, a bad schedule."""
    with pytest.raises(InvalidJob, match="name"):
        await onebeat.run(print, name="", schedule="@daily")
    with pytest.raises(InvalidSchedule):
        await onebeat.run(print, name="a", schedule="nonsense")


async def test_the_start_names_replica_store_and_jobs(given: Given) -> None:
    """T-LOG: one event at start has it all."""
    scheduler = given.scheduler(given.store, app="shop", replica="pod-1")
    scheduler.add("a", every(60), lambda: None)
    scheduler.add("b", every(60), lambda: None, on_every_replica=True)
    async with scheduler:
        assert dict(scheduler.upcoming()).keys() == {"a", "b"}
    [started] = given.recorder.of(SchedulerStarted)
    assert (started.replica.app, started.replica.label) == ("shop", "pod-1")
    assert (started.jobs, started.every_replica) == (("a", "b"), ("b",))
    assert started.store is not None


async def test_a_forked_copy_neither_claims_nor_releases(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-ID: the run goes on in the parent; the copy says so and answers False."""
    store, gate = Through(given.store), Gate()
    scheduler = given.scheduler(store)
    scheduler.add("a", every(10), gate.named("a"))
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=10)
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert not scheduler.run_once("b", lambda: None)
    gate.open()
    await given.clock.advance(seconds=30)
    await serving
    assert (len(store.claims), store.releases) == (1, [])
    assert len(given.recorder.of(ForkIgnored)) == 1


async def test_a_fault_in_the_ticker_ends_serve_with_its_error(given: Given) -> None:
    """X-STOP: it must not pass for a stop in order."""

    class BreaksOnce(FakeClock):
        broken = False

        def call_later(self, seconds: float, call: Callable[[], object]) -> FakeTimer:
            if self.broken:
                self.broken = False
                raise ZeroDivisionError
            return super().call_later(seconds, call)

    given.clock = clock = BreaksOnce()
    scheduler = given.scheduler()
    scheduler.add("a", every(10), lambda: None)
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=5)
    clock.broken = True
    await given.clock.advance(seconds=6)
    with pytest.raises(ZeroDivisionError):
        await serving


async def test_told_to_stop_it_stops_also_where_nothing_but_a_block_serves_it(given: Given) -> None:
    """X-STOP: `async with` waits at its end for what `stop()` has begun."""
    gate, scheduler = Gate(), given.scheduler()
    async with scheduler:
        scheduler.run_once("a", gate.named("a"))
        await given.until_quiet()
        scheduler.stop()
        await given.until_quiet()
        assert gate.cancelled == ["a"]
        assert not scheduler.run_once("b", lambda: None)
        assert len(given.recorder.of(SchedulerStopped)) == 1
    assert len(given.recorder.of(SchedulerStopped)) == 1


@pytest.mark.parametrize("fails", ["claim", "release"])
async def test_nothing_is_asked_of_the_store_once_the_scheduler_has_stopped(given: Given, fails: str) -> None:
    """X-STOP: what failed until then is not tried again in a loop that is the app's."""

    class Down(Through):
        asked = 0

        async def fail(self, *_: object, **__: object) -> None:
            self.asked += 1
            raise OSError("down")

    store = Down(given.store)
    setattr(store, fails, store.fail)
    scheduler = given.scheduler(store, claim_timeout=1, shutdown_timeout=1)
    scheduler.add("a", every(10), lambda: None)
    before = asyncio.all_tasks()
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=10)
    scheduler.stop()
    await given.clock.advance(seconds=3)
    await serving
    asked = store.asked
    await given.clock.advance(seconds=60)
    assert store.asked == asked > 0
    assert asyncio.all_tasks() == before


async def test_a_store_that_fails_to_close_ends_nothing(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X-STOP, D-DOWN: a scheduler closes the store it has opened, and stops whatever comes of that."""

    async def fail(_: object) -> None:
        raise OSError("down")

    monkeypatch.setattr(MemoryStore, "close", fail)
    async with given.scheduler("memory://"):
        pass
    assert len(given.recorder.of(SchedulerStopped)) == 1


async def test_claims_go_on_after_an_app_has_cancelled_every_task_of_its_loop(given: Given) -> None:
    """D-DOWN: what was cancelled costs its ticks; the next ones are claimed, and the end is reached."""
    store = Through(given.store)
    scheduler = given.scheduler(store, claim_timeout=5)
    scheduler.add("a", every(10), lambda: None)
    async with scheduler:
        claim, store.claim = store.claim, lambda *_, **__: given.clock.sleep(3)  # type: ignore[method-assign, assignment]
        await given.clock.advance(seconds=11)
        store.claim = claim  # type: ignore[method-assign]
        for task in asyncio.all_tasks() - {asyncio.current_task(), scheduler._serving().session.ticking}:
            task.cancel()
        await given.clock.advance(seconds=20)
    assert [event.outcome.value for event in given.recorder.ended()] == ["claim_error", "ran", "ran"]


async def test_an_id_becomes_free_when_an_app_cancels_every_task_while_its_claim_is_released(
    given: Given,
) -> None:
    """J-ACTIVE: nothing is busy for ever."""
    store = Through(given.store)
    scheduler = given.scheduler(store)
    scheduler.add("a", every(10), lambda: None)
    async with scheduler:
        release, store.release = store.release, lambda *_, **__: given.clock.sleep(3)  # type: ignore[method-assign]
        await given.clock.advance(seconds=11)
        assert scheduler.active == 1
        store.release = release  # type: ignore[method-assign]
        for task in asyncio.all_tasks() - {asyncio.current_task(), scheduler._serving().session.ticking}:
            task.cancel()
        await given.until_quiet()
        assert scheduler.active == 0


async def test_what_an_unanswered_claim_may_have_won_is_released_before_the_end(given: Given) -> None:
    """C-CANCEL, X-STOP: its lease would keep the job from the other replicas for an hour."""

    class Mute(Through):
        async def claim(self, *asked: Any, **by: Any) -> Any:
            await super().claim(*asked, **by)
            await asyncio.Event().wait()

    store = Mute(given.store)
    scheduler = given.scheduler(store, claim_timeout=5, shutdown_timeout=1)
    scheduler.add("a", every(10), lambda: None)
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=11)
    scheduler.stop()
    await given.clock.advance(seconds=2)
    await serving
    assert [release.tick.job_id for batch in store.releases for release in batch] == ["a"]
