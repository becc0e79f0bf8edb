"""Real processes on one file: races, kills, forks, and leaving while the file is locked."""

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest

from onebeat.model import Bid, Replica, Tick
from onebeat.stores.sqlite import SqliteStore, apply_migrations

HERE = Path(__file__).parent
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = 60


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(HERE / program), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def rest_of(process: subprocess.Popen[str]) -> str:
    """What is left to read; not by `communicate`, which forgets what was read ahead with a line."""
    with process:
        assert process.stdout is not None
        return process.stdout.read()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def wins_of(process: subprocess.Popen[str]) -> list[int]:
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return [int(line) for line in out.split()]


def test_eight_processes_that_first_open_a_file_at_once_win_each_tick_once(tmp_path: Path) -> None:
    """C-ONE, D-LITE: the switch to WAL and the migrations race as well, and nobody sees an error."""
    rivals = [start("rival.py", tmp_path / "jobs.db", f"r{n}", 200) for n in range(8)]
    assert [line_of(rival) for rival in rivals] == ["ready"] * 8
    for rival in rivals:
        go(rival)
    wins = [wins_of(rival) for rival in rivals]
    assert sorted(chain.from_iterable(wins)) == list(range(200))


async def test_what_a_killed_process_had_won_stays_won(tmp_path: Path) -> None:
    """C-ONE, C-CRASH: killed in the middle of its writing, it neither loses a claim nor blocks the others."""
    path, count = tmp_path / "jobs.db", 1_000
    victim = start("rival.py", path, "victim", count)
    line_of(victim)
    go(victim)
    won = {int(line_of(victim)) for _ in range(100)}
    victim.send_signal(signal.SIGKILL)
    won |= {int(line) for line in rest_of(victim).splitlines()[:-1]}  # the last may be cut short
    store = SqliteStore(path)
    bids = [Bid(Tick("report", FIRST + timedelta(seconds=n)), f"heir-{n}", None) for n in range(count)]
    answers = await store.claim(
        bids, replica=Replica("default", "heir", "heir"), timeout=timedelta(seconds=30)
    )
    await store.close()
    lost = {n for n, answer in enumerate(answers) if not answer.won}
    assert won <= lost
    assert len(lost - won) <= 2, "at most what it had won and not yet said"
    assert {answers[n].claimed_by for n in lost} == {"victim"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_open_the_file_anew(tmp_path: Path) -> None:
    """C-ID, D-LITE: a fork in the midst of a statement leaves nobody blocked and no tick won twice."""
    process = start("forks.py", tmp_path / "jobs.db")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_process_leaves_though_its_claim_still_waits_for_the_file(tmp_path: Path) -> None:
    """J-CANCEL: no thread of ours keeps the interpreter from exiting."""
    path = tmp_path / "jobs.db"
    apply_migrations(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = start("leaves.py", path)
    out, err = process.communicate(timeout=PATIENCE)
    other.close()
    assert (process.returncode, out, err) == (0, "left\n", "")
