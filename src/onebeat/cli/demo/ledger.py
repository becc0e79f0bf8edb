"""The bodies' own record of what ran: onebeat has no hand in it, so it can convict onebeat.

One file, appended to by every replica, one short line a write: a replica that is killed loses nothing
that it wrote, and lines of several replicas do not mix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from onebeat.model import Tick


class Mark(StrEnum):
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class Entry:
    """*replica* was at the start, or the end, of the body of *tick*."""

    tick: Tick
    replica: str
    mark: Mark


@contextmanager
def recorded(path: Path, tick: Tick, replica: str) -> Iterator[None]:
    """Around a body: its start is in the ledger before it does anything, its end however it ends."""
    _append(path, Entry(tick, replica, Mark.START))
    try:
        yield
    finally:
        _append(path, Entry(tick, replica, Mark.END))


def read_ledger(path: Path) -> list[Entry]:
    """All entries, oldest first; none when nothing ever ran."""
    return [_entry(line) for line in path.read_text().splitlines()] if path.exists() else []


def _append(path: Path, entry: Entry) -> None:
    fields = (entry.tick.job_id, entry.tick.scheduled_at.isoformat(), entry.replica, entry.mark)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, (json.dumps(fields) + "\n").encode())
    finally:
        os.close(file)


def _entry(line: str) -> Entry:
    job_id, scheduled_at, replica, mark = json.loads(line)
    return Entry(Tick(job_id, datetime.fromisoformat(scheduled_at)), replica, Mark(mark))
