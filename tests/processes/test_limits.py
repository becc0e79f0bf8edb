"""A limit that real replicas share on a real database, convicted by the bodies' own ledger."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest

from tests.processes.fleet import ROOT, wait_for
from tests.processes.limited import MOST
from tests.processes.records import Entry, Mark, read_ledger, true_time

LABELS = ("r0", "r1", "r2")


@pytest.fixture(params=["postgresql", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return cast(str, request.getfixturevalue("database"))
    return f"sqlite:///{tmp_path / 'claims.db'}"


def started(stack: ExitStack, label: str, store: str, folder: Path) -> subprocess.Popen[bytes]:
    log = stack.enter_context((folder / f"{label}.log").open("wb"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.processes.limited", store, label, str(folder / "ledger")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=log,
    )
    stack.callback(process.communicate)
    stack.callback(process.kill)
    return process


def at_once(ledger: list[Entry], killed: str, killed_at: datetime) -> list[int]:
    """How many bodies ran, after each start and each end; those of the killed ended with it."""
    running: set[Entry] = set()
    counts = []
    for entry in sorted(ledger, key=lambda entry: entry.stamp):
        if entry.stamp > killed_at:
            running = {start for start in running if start.replica != killed}
        if entry.mark is Mark.START:
            running.add(entry)
        else:
            running = {start for start in running if start.tick != entry.tick}
        counts.append(len(running))
    return counts


def test_never_more_than_the_limit_run_at_once_and_the_dead_hold_nothing_for_long(
    store: str, tmp_path: Path
) -> None:
    """J-LIMIT: on three replicas; one is killed while it holds a permit, and that comes back."""
    path = tmp_path / "ledger"

    def logs() -> str:
        return "\n".join((tmp_path / f"{label}.log").read_text() for label in LABELS)

    def running() -> list[Entry]:
        """Begun and not ended."""
        ledger = read_ledger(path)
        ends = {entry.tick for entry in ledger if entry.mark is Mark.END}
        return [entry for entry in ledger if entry.tick not in ends]

    def begun_after(moment: datetime) -> list[Entry]:
        return [e for e in read_ledger(path) if e.mark is Mark.START and e.stamp > moment]

    with ExitStack() as stack:
        processes = {label: started(stack, label, store, tmp_path) for label in LABELS}
        wait_for(lambda: len(read_ledger(path)) > 20, "some runs", logs)

        def frozen_in_a_run() -> str:
            """Stopped first, then looked at: so it holds a permit for certain."""
            for entry in reversed(running()):
                processes[entry.replica].send_signal(signal.SIGSTOP)
                if entry in running():
                    return entry.replica
                processes[entry.replica].send_signal(signal.SIGCONT)
            return ""

        killed = wait_for(frozen_in_a_run, "a replica in a run", logs)
        processes[killed].kill()
        processes[killed].wait()
        killed_at = true_time()
        wait_for(lambda: len(begun_after(killed_at)) > 10, "runs after the death", logs)
        time.sleep(6)  # for two times to live, and a moment
        late = true_time()
        wait_for(lambda: len(begun_after(late)) > 10, "runs after the obituary", logs)
    ledger = read_ledger(path)
    assert max(at_once(ledger, killed, killed_at)) == MOST
    assert max(at_once(begun_and_ended(ledger, late), killed, killed_at)) == MOST


def begun_and_ended(ledger: list[Entry], since: datetime) -> list[Entry]:
    """The entries of runs that began after *since*."""
    ticks = {entry.tick for entry in ledger if entry.mark is Mark.START and entry.stamp > since}
    return [entry for entry in ledger if entry.tick in ticks]
