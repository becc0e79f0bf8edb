"""What replicas leave behind: the bodies' ledger, and notes of what each scheduler said.

One short line a write, appended: a replica that is killed loses nothing that it wrote, and lines of
several replicas do not mix. onebeat has no hand in the ledger, so it can convict onebeat.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from onebeat import Run, Tick


class Mark(StrEnum):
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """*replica* was at the start, or the end, of the body of this tick, at true time `stamp`.

    `cause` is why its run had been cancelled by then; empty for one that had not."""

    job_id: str
    scheduled_at: datetime
    replica: str
    mark: Mark
    stamp: datetime
    fence: int
    pid: int = 0
    cause: str = ""

    @property
    def tick(self) -> Tick:
        return Tick(self.job_id, self.scheduled_at)


class Kind(StrEnum):
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    TICK = "tick"
    ANSWERED = "answered"  # of a claim statement
    UNANSWERED = "unanswered"  # of a claim statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What *replica*'s scheduler said at true time `stamp`, when the replica's own clock showed `shown`.

    `identity` is what the scheduler calls itself when it is ready."""

    replica: str
    kind: Kind
    stamp: datetime
    shown: datetime
    identity: str = ""
    job_id: str = ""
    scheduled_at: datetime | None = None
    outcome: str = ""
    reason: str = ""
    claimed_by: str = ""
    took: float = 0.0
    pid: int = 0

    @property
    def tick(self) -> Tick | None:
        return Tick(self.job_id, self.scheduled_at) if self.scheduled_at else None


def true_time() -> datetime:
    return datetime.now(UTC)


@contextmanager
def recorded(ledger: Path, run: Run, replica: str) -> Iterator[None]:
    """Around a body: its start is in the ledger before it does anything, its end however it ends."""

    def at(mark: Mark) -> Entry:
        assert run.scheduled_at is not None  # these bodies run for ticks alone
        return Entry(
            job_id=run.job_id,
            scheduled_at=run.scheduled_at,
            replica=replica,
            mark=mark,
            stamp=true_time(),
            fence=run.fence or 0,
            pid=os.getpid(),
            cause=type(run.cause).__name__ if run.cause else "",
        )

    append(ledger, at(Mark.START))
    try:
        yield
    finally:
        append(ledger, at(Mark.END))


def append(path: Path, record: Entry | Note) -> None:
    line = json.dumps(asdict(record), default=datetime.isoformat) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def read_ledger(path: Path) -> list[Entry]:
    """All entries, oldest first; none when nothing ever ran."""
    return [Entry(**{**line, "mark": Mark(line["mark"])}) for line in _lines(path)]


def read_notes(path: Path) -> list[Note]:
    """All notes, oldest first."""
    return [Note(**{**line, "kind": Kind(line["kind"])}) for line in _lines(path)]


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    instants = ("scheduled_at", "stamp", "shown")
    for line in path.read_text().splitlines() if path.exists() else ():
        record = json.loads(line)
        yield {
            name: datetime.fromisoformat(value) if value and name in instants else value
            for name, value in record.items()
        }
