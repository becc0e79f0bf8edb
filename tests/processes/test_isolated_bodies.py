"""Bodies in child processes: found by name, told, killed, and heard of."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onebeat import ChildFailed, InvalidJob, LeaseLost, Run, Scheduler, Superseded, TimedOut, every
from onebeat.events import RunEnded
from onebeat.model import Outcome, Reason
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from tests.engine.given import Given
from tests.processes import isolated_bodies as bodies


class Isolated:
    """A job in a child process, due every minute, and the file in which its body writes what it sees."""

    def __init__(self, given: Given, path: Path) -> None:
        self.given = given
        self.path = path
        self.id = str(path)

    def scheduler(self, body: Any, store: object = None, **settings: Any) -> Scheduler:
        policy = {name: settings.pop(name) for name in ("timeout", "lease", "late") if name in settings}
        scheduler = self.given.scheduler(store, **settings)
        scheduler.add(self.id, every(60), body, isolation="process", **policy)
        return scheduler

    @property
    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    @property
    def ended(self) -> RunEnded:
        [ended] = self.given.recorder.runs(self.id)
        return ended

    async def after(self, body: Any, **settings: Any) -> RunEnded:
        """How one tick of it went."""
        async with self.scheduler(body, **settings):
            await self.given.clock.advance(seconds=60)
        return self.ended

    async def once_begun(self, *, lines: int = 1) -> None:
        """In real time: a child is not driven by the clock."""
        while len(self.lines) < lines:
            await asyncio.to_thread(wait_for_a_moment)


@pytest.fixture
def given() -> Given:
    """With a clock that waits for children even where the machine is busy."""
    return Given(FakeClock(patience=60))


@pytest.fixture
def isolated(given: Given, tmp_path: Path) -> Isolated:
    return Isolated(given, tmp_path / "seen")


@pytest.fixture
def impatient(given: Given, isolated: Isolated) -> Isolated:
    """With a clock that goes on though a child has not ended."""
    given.clock = FakeClock(patience=0.1)
    given.store = MemoryStore(clock=given.clock)
    return isolated


def wait_for_a_moment() -> None:
    time.sleep(0.01)


def lives(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/stat").open() as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def in_time(found: Callable[[], bool]) -> bool:
    """Whether that comes about within what a busy machine may take."""
    until = time.monotonic() + 20
    while not found() and time.monotonic() < until:
        wait_for_a_moment()
    return found()


@pytest.mark.parametrize("body", [bodies.facts, bodies.facts_on_a_loop])
async def test_a_body_runs_in_another_process_with_a_run_of_its_own(isolated: Isolated, body: Any) -> None:
    """J-CANCEL: the facts are those of the run here."""
    ended = await isolated.after(body, store=isolated.given.store, replica="web-1")
    assert ended.outcome is Outcome.RAN
    [line] = isolated.lines
    pid, day, hour, attempt, fence, replica, lateness, trace = line.split()
    assert int(pid) != os.getpid()
    assert f"{day} {hour}" == "2026-01-01 00:01:00+00:00"
    assert (attempt, replica, float(lateness), trace) == ("1", "web-1", 0.0, "None")
    assert int(fence) > 0


async def test_a_child_has_the_flags_environment_and_folder_of_its_parent(
    isolated: Isolated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEBEAT_TEST_WORD", "word")
    monkeypatch.setattr(sys, "warnoptions", ["error::ResourceWarning"])
    assert (await isolated.after(bodies.surroundings)).outcome is Outcome.RAN
    assert isolated.lines == [f"word {Path.cwd()} True {sys.flags.dev_mode}"]


async def test_a_module_is_found_where_the_parent_finds_it(
    isolated: Isolated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "found_by_path.py").write_text("def body() -> None:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import found_by_path  # type: ignore[import-not-found]

    assert (await isolated.after(found_by_path.body)).outcome is Outcome.RAN


async def test_two_runs_share_no_memory(isolated: Isolated) -> None:
    async with isolated.scheduler(bodies.remembers):
        await isolated.given.clock.advance(seconds=120)
    assert isolated.lines == ["1", "1"]
    assert bodies.memory == []


@pytest.mark.parametrize("body", [bodies.raises, bodies.raises_on_a_loop])
async def test_what_a_body_raises_comes_back_as_name_text_and_traceback(
    isolated: Isolated, body: Any
) -> None:
    ended = await isolated.after(body)
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, None)
    assert isinstance(ended.error, ChildFailed)
    assert (str(ended.error), ended.error.kind) == ("ValueError: no such file", "ValueError")
    [note] = ended.error.__notes__
    assert 'raise ValueError("no such file")' in note
    assert body.__name__ in note


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (bodies.exits, "SystemExit: 3"),
        (bodies.leaves, "its process ended with code 7 before its body did"),
        (bodies.crashes, "its process died by SIGSEGV"),
        (bodies.raises_unprintable, "Unprintable: (its text raised RuntimeError)"),
        (bodies.returns_a_generator, "TypeError: the body returned a generator"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_however_a_child_ends_it_is_one_failed_run_that_says_so(
    isolated: Isolated, body: Any, text: str
) -> None:
    """J-BODY: and the id is free again."""
    async with isolated.scheduler(body) as scheduler:
        await isolated.given.clock.advance(seconds=60)
        assert scheduler.active == 0
    assert isolated.ended.outcome is Outcome.FAILED
    assert isinstance(isolated.ended.error, ChildFailed)
    assert str(isolated.ended.error).startswith(text)


async def test_a_function_that_is_not_there_is_one_failed_run(
    isolated: Isolated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "soon_gone.py"
    module.write_text("def body() -> None:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import soon_gone  # type: ignore[import-not-found]

    module.write_text("raise RuntimeError('not importable')\n")
    os.utime(module, (0, 0))  # so that no compiled copy of before is taken for it
    ended = await isolated.after(soon_gone.body)
    assert str(ended.error) == "RuntimeError: not importable"


@pytest.mark.parametrize("body", [bodies.listens, bodies.listens_on_a_loop])
async def test_a_body_that_listens_is_told_why_and_ends_by_itself(impatient: Isolated, body: Any) -> None:
    """J-CANCEL, J-TIME: it is not killed, and a `finally` of a coroutine can await."""
    async with impatient.scheduler(body, timeout=30):
        await impatient.given.clock.advance(seconds=61)
        await impatient.once_begun()
        await impatient.given.clock.advance(seconds=29)
        await impatient.once_begun(lines=2)
    assert impatient.lines == ["began", "cause TimedOut"]
    assert impatient.ended.reason is Reason.TIMED_OUT
    assert isinstance(impatient.ended.error, TimedOut)
    [note] = impatient.ended.error.__notes__
    assert f"in {body.__name__}" in note


async def test_a_plain_body_that_does_not_listen_is_interrupted_by_sigterm(impatient: Isolated) -> None:
    """J-CANCEL: its cause is raised wherever it is, and its `finally` goes on. A signal that its parent has
    not ordered means nothing: a supervisor sends one to all processes at once."""
    async with impatient.scheduler(bodies.sleeps, timeout=30):
        await impatient.given.clock.advance(seconds=61)
        await impatient.once_begun()
        os.kill(int(impatient.lines[0].split()[1]), signal.SIGTERM)
        await impatient.given.clock.advance(seconds=30)
        assert len(impatient.lines) == 1
        await impatient.given.clock.advance(seconds=2)
        await impatient.once_begun(lines=2)
    assert impatient.lines[1:] == ["tidied up"]
    assert isinstance(impatient.ended.error, TimedOut)
    [note] = impatient.ended.error.__notes__
    assert "in sleeps" in note  # where it hung


@pytest.mark.parametrize("body", [bodies.deaf, bodies.deaf_on_a_loop])
async def test_a_body_that_ignores_everything_is_killed_at_its_timeout(
    impatient: Isolated, body: Any
) -> None:
    """J-CANCEL: with what it has started, and its id is free again."""
    async with impatient.scheduler(body, timeout=30) as scheduler:
        await impatient.given.clock.advance(seconds=61)
        await impatient.once_begun()
        await impatient.given.clock.advance(seconds=33)
        pids = [int(pid) for pid in impatient.lines[0].split()]
        assert all(map(lives, pids))
        assert scheduler.active == 1
        await impatient.given.clock.advance(seconds=2)
        while scheduler.active:
            await scheduler.idle()
        assert in_time(lambda: not any(map(lives, pids)))
    assert impatient.ended.reason is Reason.TIMED_OUT
    error = impatient.ended.error
    assert isinstance(error, TimedOut)
    assert error.__notes__ == ["its process died by SIGKILL"]
    assert error.__suppress_context__  # one traceback is enough to say so


async def test_a_body_that_ignores_everything_is_killed_when_superseded(impatient: Isolated) -> None:
    """J-SUPER, J-CANCEL: and the newer run begins."""
    async with impatient.scheduler(bodies.deaf) as scheduler:
        await impatient.given.clock.advance(seconds=61)
        await impatient.once_begun()
        assert scheduler.supersede(impatient.id, bodies.remembers)
        await impatient.given.clock.advance(seconds=6)
        await impatient.once_begun(lines=2)
        while scheduler.active:
            await scheduler.idle()
    first, second = impatient.given.recorder.runs(impatient.id)
    assert isinstance(first.error, Superseded)
    assert second.outcome is Outcome.RAN
    assert not lives(int(impatient.lines[0].split()[0]))


async def test_a_body_that_ignores_everything_is_killed_within_the_shutdown_timeout(
    impatient: Isolated,
) -> None:
    """X-STOP, J-CANCEL: so that its claim is released in time."""
    scheduler = impatient.scheduler(bodies.deaf, impatient.given.store, shutdown_timeout=4)
    serving = asyncio.ensure_future(scheduler.serve())
    await impatient.given.clock.advance(seconds=61)
    await impatient.once_begun()
    scheduler.stop()
    await impatient.given.clock.advance(seconds=3)
    await serving
    assert not lives(int(impatient.lines[0].split()[0]))
    assert impatient.ended.reason is Reason.CANCELLED


async def test_nobody_waits_for_a_child_after_a_second_signal(impatient: Isolated) -> None:
    """X-STOP: it is killed at once, without a moment of the clock; a second cancellation is one."""
    scheduler = impatient.scheduler(bodies.deaf)
    serving = asyncio.ensure_future(scheduler.serve())
    await impatient.given.clock.advance(seconds=61)
    await impatient.once_begun()
    serving.cancel()
    await impatient.given.clock.settle()
    assert all(lives(int(pid)) for pid in impatient.lines[0].split())
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    assert in_time(lambda: not any(lives(int(pid)) for pid in impatient.lines[0].split()))


async def test_a_child_finds_out_that_its_lease_is_over(isolated: Isolated) -> None:
    """F-FENCE: `check` there asks nobody either."""
    ended = await isolated.after(bodies.checks, store=isolated.given.store, lease=0.1)
    assert ended.reason is Reason.LOST
    assert isinstance(ended.error, LeaseLost)


async def test_what_a_body_forks_is_no_part_of_its_run(isolated: Isolated) -> None:
    """A fork left behind keeps nobody waiting, and SIGTERM means to a fork what it always means."""
    ended = await isolated.after(bodies.forks)
    assert ended.outcome is Outcome.RAN
    assert isolated.lines == ["ended by -15"]


async def test_a_run_lasts_until_the_threads_of_its_body_have_ended(isolated: Isolated) -> None:
    ended = await isolated.after(bodies.starts_threads)
    assert ended.outcome is Outcome.RAN
    assert isolated.lines == ["done"]


async def test_twenty_children_at_once(given: Given, tmp_path: Path) -> None:
    """Each has its own run, and as many as there are threads run at a time."""
    scheduler = given.scheduler(threads=20)
    for number in range(20):
        scheduler.add(str(tmp_path / f"{number}"), every(60), bodies.remembers, isolation="process")
    async with scheduler:
        await given.clock.advance(seconds=60)
        while scheduler.active:
            await scheduler.idle()
    assert {run.outcome for run in given.recorder.runs()} == {Outcome.RAN}
    assert len(os.listdir(tmp_path)) == 20


@pytest.mark.parametrize("body", [bodies.Report.build, bodies.Monthly.build])
async def test_a_class_method_belongs_to_the_class_it_was_taken_from(isolated: Isolated, body: Any) -> None:
    assert (await isolated.after(body)).outcome is Outcome.RAN
    assert isolated.lines == [body.__self__.__name__]


def inside() -> Any:
    def body(run: Run) -> None: ...

    return body


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        (lambda: None, "top of a module"),
        (inside(), "top of a module"),
        (partial(bodies.raises), "def a function"),
        (bodies.Report().of_one, "use a function"),
    ],
    ids=["lambda", "local", "partial", "instance"],
)
def test_what_no_child_could_import_is_refused_with_advice(given: Given, body: Any, advice: str) -> None:
    """J-API: at registration, and nothing of it is kept."""
    scheduler = given.scheduler()
    with pytest.raises(InvalidJob, match=advice) as error:
        scheduler.add("a", every(60), body, isolation="process")
    assert error.value.field == "isolation"
    assert scheduler.jobs == ()


def test_a_function_of_a_script_is_refused_and_one_of_a_module_run_as_a_program_is_not(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J-API: in `__main__` the module is taken from its spec."""

    def body() -> None: ...

    body.__module__, body.__qualname__ = "__main__", "body"
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    with pytest.raises(InvalidJob, match="python -m"):
        given.scheduler().add("a", every(60), body, isolation="process")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", bodies.__spec__)
    given.scheduler().add("a", every(60), body, isolation="process")


def test_other_work_under_the_id_of_an_isolated_job_must_be_importable_too(isolated: Isolated) -> None:
    """C-DEMAND: the job's policy is the id's."""
    scheduler = isolated.scheduler(bodies.raises)
    with pytest.raises(InvalidJob, match="top of a module"):
        scheduler.run_once(isolated.id, lambda: None)
