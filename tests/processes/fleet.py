"""Replicas as real processes: started together, meddled with, stopped in order, and their story read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from onebeat import Tick
from tests.processes import accounting
from tests.processes.orders import JOBS, LEASE, TOLERANCE, Orders
from tests.processes.records import Entry, Kind, Mark, Note, read_ledger, read_notes

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
T = TypeVar("T")


@dataclass(frozen=True)
class Story:
    """What a fleet leaves behind."""

    ledger: list[Entry]
    notes: list[Note]

    @classmethod
    def of(cls, orders: Orders) -> Story:
        """Of the fleet whose replicas have these orders, as told so far."""
        return cls(read_ledger(orders.ledger), read_notes(orders.notes))

    @property
    def twice(self) -> list[Tick]:
        return accounting.twice(self.ledger)

    @property
    def owed(self) -> list[Tick]:
        return accounting.owed(JOBS, self.notes)

    @property
    def missing(self) -> list[Tick]:
        return accounting.missing(self.owed, self.ledger)

    @property
    def unserved(self) -> set[Tick]:
        return accounting.unserved(self.notes)

    @property
    def called_off(self) -> set[Tick]:
        return accounting.called_off(self.notes)

    @property
    def overtaken(self) -> set[Tick]:
        return accounting.overtaken(self.notes, self.ledger, TOLERANCE)

    def starts(self, job_id: str) -> list[Entry]:
        """Of its bodies, oldest first."""
        return [entry for entry in self.ledger if entry.job_id == job_id and entry.mark is Mark.START]

    def ends(self, job_id: str) -> list[Entry]:
        """Of its bodies, oldest first."""
        return [entry for entry in self.ledger if entry.job_id == job_id and entry.mark is Mark.END]

    def lost_with(self, replica: str) -> set[Tick]:
        return accounting.lost_with(replica, self.ledger, self.notes)

    def held_by(self, replica: str) -> set[Tick]:
        return accounting.held_by(replica, self.ledger, self.notes)

    def blocked_by(self, holding: set[Tick]) -> set[Tick]:
        return accounting.blocked_by(holding, self.notes, LEASE)


def assert_each_tick_ran_once(story: Story, log: str) -> None:
    """Some ticks were owed, none of them is missing, and none ran twice."""
    assert story.owed, log
    assert story.twice == [], f"{story.twice}\n{log}"
    assert story.missing == [], f"{story.missing}\n{log}"


class Fleet:
    """One process an order. On leaving, whatever still runs is killed."""

    def __init__(self, orders: Sequence[Orders]) -> None:
        self.orders = list(orders)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._killed: set[str] = set()

    def __enter__(self) -> Self:
        """All stand at the line, then go at once; return when the schedulers of all have started."""
        with ExitStack() as unless_ready:
            unless_ready.callback(self._kill_all)
            self._start()
            unless_ready.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._kill_all()

    def freeze(self, label: str) -> None:
        self._processes[label].send_signal(signal.SIGSTOP)

    def thaw(self, label: str) -> None:
        self._processes[label].send_signal(signal.SIGCONT)

    def kill(self, label: str) -> None:
        self._killed.add(label)
        self._processes[label].kill()

    def replica_in_a_run(self, job_id: str) -> str:
        """Whoever begins the next run of *job_id*, told at once."""
        seen = len(self.story().starts(job_id))
        return wait_for(lambda: self.story().starts(job_id)[seen:], f"a run of {job_id}", self.logs)[
            0
        ].replica

    def story(self) -> Story:
        return Story.of(self.orders[0])

    def stop(self) -> Story:
        """In order, between two ticks; all must end well."""
        wait_for_a_pause()
        living = {label: p for label, p in self._processes.items() if label not in self._killed}
        for process in living.values():
            process.send_signal(signal.SIGTERM)
        endings = {label: process.wait(PATIENCE) for label, process in living.items()}
        assert set(endings.values()) == {0}, f"{endings}\n{self.logs()}"
        return self.story()

    def logs(self) -> str:
        """What all replicas logged, for when something went wrong."""
        return "\n".join(f"{order.label}: {line}" for order in self.orders for line in _lines(order.log))

    def _start(self) -> None:
        for order in self.orders:
            self._processes[order.label] = _spawn(order)
        for order in self.orders:
            self._hear(order)
        for process in self._processes.values():
            _write(process)
        wait_for(lambda: self._ready() == set(self._processes), "every replica to be ready", self.logs)

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.communicate()

    def _hear(self, order: Orders) -> None:
        out = self._processes[order.label].stdout
        assert out is not None  # opened as a pipe
        assert out.readline() == b"set\n", self.logs()

    def _ready(self) -> set[str]:
        return {note.replica for note in self.story().notes if note.kind is Kind.READY}


def wait_for_a_pause() -> None:
    """Until two thirds of a second after a tick: none is just being claimed, also by those whom it prefers
    least but one, nor by a clock that leads by a fifth; and every body has ended."""
    time.sleep((0.7 - time.time()) % 1)


def wait_for(found: Callable[[], T], what: str, explain: Callable[[], str]) -> T:
    """What *found* gives, once it gives something."""
    deadline = time.monotonic() + PATIENCE
    while not (it := found()):
        assert time.monotonic() < deadline, f"waited in vain for {what}\n{explain()}"
        time.sleep(0.02)
    return it


def _spawn(order: Orders) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.processes.replica", order.text()]
    with order.log.open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )


def _write(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None  # opened as a pipe
    process.stdin.write(b".")
    process.stdin.flush()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
