"""The demo, for real: three replicas, one killed, every tick accounted for, nobody left behind."""

from __future__ import annotations

import os
import re
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from onebeat.cli.demo.jobs import LABELS
from tests.cli.processes import PATIENCE, alive, children, eventually, start

SUMMARY = re.compile(r"owed (\d+) = ran (\d+) \+ lost (\d+) \+ blocked (\d+) \+ missed (\d+); twice (\d+)")


def test_a_replica_dies_and_every_tick_is_accounted_for(tmp_path: Path) -> None:
    """C-ONE, C-CRASH, C-LEASE: no tick starts twice; a crash costs its run and what the lease blocks."""
    demo = start(tmp_path, "demo", "--seconds", "7")
    out, _ = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 0, out
    *lines, last = out.splitlines()
    summary = SUMMARY.fullmatch(last)
    assert summary, out
    owed, ran, lost, blocked, missed, twice = map(int, summary.groups())
    assert owed == ran + lost + blocked + missed
    assert ran > 0
    assert lost >= 1
    assert (missed, twice) == (0, 0)
    (killed_at, victim) = re.findall(r"^(\S+) (\w+) killed with SIGKILL while it ran export$", out, re.M)[0]
    winners = {row.split()[2] for row in lines if row.startswith("heartbeat") and row.split()[1] > killed_at}
    assert winners, out
    assert victim not in winners, out
    assert all(len(line) <= 80 for line in lines), out
    assert list(tmp_path.iterdir()) == []


def test_the_dashboard_shows_its_fleet_as_long_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "echo opened %s")
    demo = start(tmp_path, "demo", "--seconds", "6", "--open")
    assert demo.stdout is not None
    opened = next(line for line in demo.stdout if line.startswith("dashboard: opened "))
    address = opened.split()[-1]
    with urllib.request.urlopen(address, timeout=PATIENCE) as page:
        assert b"heartbeat" in page.read()
    out, _ = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 0, out
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=PATIENCE)
    assert list(tmp_path.iterdir()) == []


def test_killed_itself_it_leaves_no_replica_behind(tmp_path: Path) -> None:
    demo = start(tmp_path, "demo", "--seconds", "60", "--ui")
    assert eventually(lambda: len(children(demo.pid)) == len(LABELS) + 1)
    replicas = children(demo.pid)
    demo.kill()
    demo.communicate()
    assert eventually(lambda: not any(map(alive, replicas)))


def test_interrupted_it_stops_its_replicas_and_says_so_by_its_exit_code(tmp_path: Path) -> None:
    demo = start(tmp_path, "demo", "--seconds", "60")
    assert eventually(lambda: len(children(demo.pid)) == len(LABELS))
    replicas = children(demo.pid)
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130
    assert not any(map(alive, replicas))
    assert list(tmp_path.iterdir()) == []


def test_a_replica_that_dies_of_its_own_accord_is_no_demo(tmp_path: Path) -> None:
    demo = start(tmp_path, "demo", "--seconds", "60")
    assert eventually(lambda: len(children(demo.pid)) == len(LABELS))
    os.kill(children(demo.pid)[0], signal.SIGKILL)
    out, _ = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 1
    assert "ended by itself" in out.splitlines()[-1]
