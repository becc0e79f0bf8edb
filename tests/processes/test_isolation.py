"""Child processes of a real scheduler: none outlives it, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.fleet import PATIENCE, ROOT, wait_for


@contextmanager
def life(body: str, log: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process, killed on leaving if it has not ended, and its child, in the midst of its body."""
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.isolated_life", body],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    try:
        yield process, int(heard(process))
    finally:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None  # opened as a pipe
    return process.stdout.readline().strip()


def is_gone(pid: int) -> bool:
    """Whether it has ended, read or unread."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("body", ["sleeps", "lost", "deaf"])
def test_a_child_does_not_outlive_a_parent_that_is_killed(body: str, tmp_path: Path) -> None:
    """J-CANCEL: not even one that lets no thread of its own run."""
    log = tmp_path / "log"
    with life(body, log) as (process, child):
        assert not is_gone(child)
        process.kill()
        process.wait(PATIENCE)
        wait_for(lambda: is_gone(child), "the child to end", log.read_text)


@pytest.mark.parametrize("body", ["lost", "deaf"])
def test_a_stop_kills_a_child_that_does_not_listen(body: str, tmp_path: Path) -> None:
    """X-STOP, J-CANCEL: long before the shutdown timeout, and the program ends with 0."""
    log = tmp_path / "log"
    with life(body, log) as (process, child):
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "stopping"
        assert heard(process) == "returned"
        assert process.wait(PATIENCE) == 0
        assert is_gone(child)
    assert "not ended" not in log.read_text()


def test_a_second_signal_kills_a_child_at_once(tmp_path: Path) -> None:
    """X-STOP: and nobody waits for it."""
    log = tmp_path / "log"
    with life("deaf", log) as (process, child):
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "stopping"
        assert not is_gone(child)
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "returned"
        assert process.wait(PATIENCE) == 0
        wait_for(lambda: is_gone(child), "the child to end", log.read_text)
