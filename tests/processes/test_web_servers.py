"""Web servers with several workers, forks and reloads: once per tick, and an end in order."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from onebeat import Tick
from tests.processes import accounting
from tests.processes.fleet import Story, assert_each_tick_ran_once
from tests.processes.orders import JOBS, Orders
from tests.processes.records import Kind, Note
from tests.processes.server import WebServer
from tests.servers.programs import free_port

APPS = "tests.processes.apps"


@pytest.fixture
def worker(database: str, tmp_path: Path) -> Orders:
    return Orders(str(tmp_path), "worker", database)


def gunicorn(app: str, *options: str) -> list[str]:
    place = f"127.0.0.1:{free_port()}"
    return ["gunicorn", "--preload", "--workers", "4", "--bind", place, *options, f"{APPS}.{app}:app"]


def uvicorn(*options: str) -> list[str]:
    return ["uvicorn", "--port", str(free_port()), *options, f"{APPS}.fastapi_app:app"]


def pids(story: Story, kind: Kind) -> list[int]:
    return sorted(note.pid for note in story.notes if note.kind is kind)


def assert_ended_in_order(story: Story, log: str) -> None:
    assert pids(story, Kind.STOPPED) == pids(story, Kind.READY), log
    assert "Traceback" not in log


def test_four_gunicorn_workers_forked_after_loading_share_every_tick(worker: Orders, span: float) -> None:
    """C-ID, X-STOP: made before the fork, it is four replicas after it, each with its own identity."""
    with WebServer(gunicorn("flask_app", "--config", f"python:{APPS}.gunicorn_hooks"), worker) as server:
        ready = server.wait_until_ready(4)
        time.sleep(span)
        story = server.stop()
    assert len({note.pid for note in ready}) == 4
    assert len({note.identity for note in ready}) == 4
    assert_each_tick_ran_once(story, server.log())
    assert_ended_in_order(story, server.log())


def test_a_scheduler_started_before_gunicorn_forks_runs_every_tick_once(worker: Orders, span: float) -> None:
    """C-ID, X-STOP: it goes on in the process that started it; its four copies fire nothing."""
    with WebServer(gunicorn("flask_started"), worker) as server:
        [master] = server.wait_until_ready(1)
        time.sleep(span)
        story = server.stop()
    assert {entry.pid for entry in story.ledger} == {master.pid}
    assert_each_tick_ran_once(story, server.log())
    assert_ended_in_order(story, server.log())


def test_four_uvicorn_workers_share_every_tick(worker: Orders, span: float) -> None:
    """C-ONE, X-STOP: a scheduler in the lifespan of each worker."""
    with WebServer(uvicorn("--workers", "4"), worker) as server:
        ready = server.wait_until_ready(4)
        time.sleep(span)
        story = server.stop()
    assert len({note.pid for note in ready}) == 4
    assert_each_tick_ran_once(story, server.log())
    assert_ended_in_order(story, server.log())


def test_a_reload_by_uvicorn_costs_only_the_ticks_in_between(
    worker: Orders, tmp_path: Path, span: float
) -> None:
    """C-ONE, X-STOP: the app before the reload and the one after it never share a tick."""
    watched = tmp_path / "watched" / "edited.py"
    watched.parent.mkdir()
    watched.touch()
    with WebServer(uvicorn("--reload", "--reload-dir", str(watched.parent)), worker) as server:
        server.wait_until_ready(1)
        time.sleep(span / 2)
        watched.write_text("edited = True\n")
        server.wait_until_ready(2)
        time.sleep(span / 2)
        story = server.stop()
    assert story.twice == []
    assert set(accounting.missing(owed_by_each(story), story.ledger)) <= story.called_off, server.log()
    assert_ended_in_order(story, server.log())


def test_a_reload_by_flask_costs_nothing_while_its_parent_serves_too(
    worker: Orders, tmp_path: Path, span: float
) -> None:
    """C-ONE: the reloader runs the app's file twice; both schedulers share the ticks."""
    watched = tmp_path / "edited.py"
    watched.touch()
    with WebServer([f"{APPS}.flask_started", str(free_port()), str(watched)], worker) as server:
        server.wait_until_ready(2)
        time.sleep(span / 2)
        watched.write_text("edited = True\n")
        server.wait_until_ready(3)
        time.sleep(span / 2)
        story = server.stop()
    assert len({note.pid for note in story.notes}) == 3
    assert story.twice == []
    assert set(accounting.missing(owed_by_each(story), story.ledger)) <= story.called_off, server.log()


def owed_by_each(story: Story) -> list[Tick]:
    """What was due while any of these processes had a scheduler that was not about to stop."""
    ready = {note.pid: note for note in story.notes if note.kind is Kind.READY}
    ends: dict[int, Note] = {note.pid: note for note in story.notes if note.kind is Kind.STOPPING}
    return sorted(
        {
            tick
            for pid, end in ends.items()
            for tick in accounting.owed_between(JOBS, ready[pid].shown, end.shown)
        }
    )
