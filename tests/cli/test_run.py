"""`onebeat run`, for real: one replica here, or several below."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.processes import PATIENCE, alive, children, eventually, start

APP = """
from onebeat import Scheduler

scheduler = Scheduler("sqlite:///claims.db", lease_margin=1, shutdown_timeout=5)

@scheduler.every(seconds=1)
async def beat(run):
    print("ran", run.scheduled_at.isoformat())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def read_until(process: subprocess.Popen[str], text: str, times: int = 1) -> list[str]:
    """The lines up to the one in which *text* has stood so many *times*."""
    assert process.stdout
    lines: list[str] = []
    while sum(text in line for line in lines) < times:
        line = process.stdout.readline()
        assert line, lines
        lines.append(line)
    return lines


def test_one_replica_runs_the_jobs_of_a_module_here_until_a_signal(folder: Path) -> None:
    process = start(folder, "run", "app:scheduler")
    read_until(process, "ran 2")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_several_replicas_run_every_tick_once_and_label_what_they_print(folder: Path) -> None:
    """C-ONE: of all replicas that share a store, at most one wins a tick."""
    process = start(folder, "run", "app:scheduler", "--replicas", "3")
    lines = read_until(process, "started", times=3) + read_until(process, "ran 2", times=2)
    # A key press at the terminal reaches the replicas through their parent alone.
    assert len({os.getsid(pid) for pid in (process.pid, *children(process.pid))}) == 4
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, rest
    out = "".join(lines) + rest
    assert {line.partition(" | ")[0] for line in out.splitlines()} == {f"replica-{n}" for n in (1, 2, 3)}
    assert set(Counter(re.findall(r"ran (\S+)", out)).values()) == {1}


def test_a_replica_that_dies_is_told_and_not_restarted_and_the_others_go_on(folder: Path) -> None:
    process = start(folder, "run", "app:scheduler", "--replicas", "2")
    read_until(process, "started", times=2)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    read_until(process, "died (SIGKILL)")
    read_until(process, "ran 2")
    assert len(children(process.pid)) == 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 1


def test_killed_itself_it_leaves_no_replica_behind(folder: Path) -> None:
    process = start(folder, "run", "app:scheduler", "--replicas", "2")
    read_until(process, "started", times=2)
    replicas = children(process.pid)
    process.kill()
    process.communicate()
    assert eventually(lambda: not any(map(alive, replicas)))


def test_a_wrong_application_is_one_line_however_many_replicas(folder: Path) -> None:
    process = start(folder, "run", "app:absent", "--replicas", "3")
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, "onebeat: module 'app' has no attribute 'absent'\n")


def test_a_key_press_before_the_replicas_are_ready_stops_them_all_quietly(folder: Path) -> None:
    process = start(folder, "run", "app:scheduler", "--replicas", "2")
    assert eventually(lambda: children(process.pid))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in out
