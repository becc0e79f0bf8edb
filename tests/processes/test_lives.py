"""One scheduler in one real process: how it ends, what its bodies may raise, and what a fork leaves of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.fleet import PATIENCE, ROOT, Story, assert_each_tick_ran_once, wait_for, wait_for_a_pause
from tests.processes.orders import QUICK, Orders
from tests.processes.records import Kind, Mark, Note

Life = subprocess.Popen[str]


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    return Orders(str(tmp_path), "alone", f"sqlite:///{tmp_path / 'claims.db'}")


@contextmanager
def life(name: str, orders: Orders) -> Iterator[Life]:
    """The process; killed on leaving, if it has not ended."""
    with orders.log.open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.lives", name],
            cwd=ROOT,
            env=orders.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def hear(process: Life, *expected: str) -> None:
    """Wait until it has said all of that."""
    assert process.stdout is not None  # opened as a pipe
    heard = {process.stdout.readline().strip() for _ in expected}
    assert heard == set(expected)


def test_a_stop_ends_the_process_though_bodies_do_not_end(orders: Orders) -> None:
    """X-STOP, J-CANCEL: after the shutdown timeout it exits with 0, and has named what outlived it."""
    with life("impatient", orders) as process:
        hear(process, "deaf", "stuck")
        process.send_signal(signal.SIGTERM)
        hear(process, "stopping")
        hear(process, "returned")
        assert process.wait(PATIENCE) == 0
    [outlived] = [line for line in orders.log.read_text().splitlines() if "not ended" in line]
    assert "'deaf'" in outlived
    assert "'stuck'" in outlived


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_waiting(orders: Orders, second: signal.Signals) -> None:
    """X-STOP: with an hour of shutdown timeout left, it returns at once."""
    with life("patient", orders) as process:
        hear(process, "deaf", "stuck")
        process.send_signal(signal.SIGTERM)
        hear(process, "stopping")
        assert process.poll() is None
        process.send_signal(second)
        hear(process, "returned")
        assert process.wait(PATIENCE) == 0


def test_a_body_that_raises_system_exit_is_one_failed_run(orders: Orders) -> None:
    """J-BODY: in a thread or on the loop, tick after tick, the scheduler goes on."""
    with life("raises SystemExit", orders) as process:
        hear(process, "raising")
        wait_for(lambda: len(runs_of_quick(orders)) >= 3, "the ticks to go on", orders.log.read_text)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.endswith("returned\n")
    assert "SystemExit: 7" in orders.log.read_text()
    assert Story.of(orders).twice == []


def test_a_body_that_raises_keyboard_interrupt_stops_the_scheduler_in_order(orders: Orders) -> None:
    """J-BODY: as if the signal had come."""
    with life("raises KeyboardInterrupt", orders) as process:
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.endswith("returned\n")
    assert [note.kind for note in Story.of(orders).notes if note.kind is not Kind.TICK][-1] is Kind.STOPPED


def test_a_program_that_ends_stops_its_background_scheduler_in_order(orders: Orders) -> None:
    """X-STOP: a body cancelled at the interpreter's exit still tidies up."""
    with life("left at exit", orders) as process:
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.splitlines() == ["leaving", "stopping", "tidied up"]
    assert "Traceback" not in orders.log.read_text()


def test_a_fork_of_a_running_scheduler_fires_nothing_and_may_start_anew(orders: Orders) -> None:
    """C-ID: the copy says so when it is used; started anew, it shares the ticks with its parent."""
    with life("forked", orders) as process:
        assert process.stdout is not None  # opened as a pipe
        child = int(process.stdout.readline())
        hear(process, "admitted: False", "active: 0")
        assert all(entry.pid != child for entry in Story.of(orders).ledger)
        wait_for(lambda: len(ready(orders)) == 2, "the copy to start", orders.log.read_text)
        wait_for(lambda: len(runs_of_quick(orders)) >= 8, "some ticks", orders.log.read_text)
        wait_for_a_pause()
        process.communicate("go\ngo\n", timeout=PATIENCE)
    assert process.returncode == 0
    assert [note.pid for note in ready(orders)] == [process.pid, child]
    assert len({note.identity for note in ready(orders)}) == 2
    story = Story.of(orders)
    assert_each_tick_ran_once(story, orders.log.read_text())
    assert orders.log.read_text().count("was copied by a fork") == 1


def test_bodies_that_fork_children_of_their_own_disturb_nothing(orders: Orders) -> None:
    """C-ID: a child that lives on past the next tick is no replica, and keeps nothing from its parent."""
    with life("with children", orders) as process:
        wait_for(lambda: len(runs_of_quick(orders)) >= 4, "some ticks", orders.log.read_text)
        wait_for_a_pause()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    story = Story.of(orders)
    assert {entry.pid for entry in story.ledger} == {process.pid}
    assert_each_tick_ran_once(story, orders.log.read_text())


def ready(orders: Orders) -> list[Note]:
    return [note for note in Story.of(orders).notes if note.kind is Kind.READY]


def runs_of_quick(orders: Orders) -> list[int]:
    return [e.pid for e in Story.of(orders).ledger if e.job_id == QUICK and e.mark is Mark.END]
