"""An observer that writes what its scheduler says to the notes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from onebeat.clock import Clock
from onebeat.events import (
    ClaimAnswered,
    ClaimStatementFailed,
    Event,
    SchedulerStarted,
    SchedulerStopped,
    SchedulerStopping,
    TickEnded,
)
from tests.processes.records import Kind, Note, append, true_time


class NoteTaker:
    """Takes note of what the accounts need, at once: what a killed replica had said is in the file."""

    inline = True

    def __init__(self, path: Path, replica: str, clock: Clock) -> None:
        self._path = path
        self._replica = replica
        self._clock = clock

    def __call__(self, event: Event) -> None:
        match event:
            case SchedulerStarted(replica=replica):
                self._write(Kind.READY, identity=replica.id)
            case SchedulerStopping():
                self._write(Kind.STOPPING)
            case SchedulerStopped():
                self._write(Kind.STOPPED)
            case ClaimAnswered(duration=duration):
                self._write(Kind.ANSWERED, took=duration)
            case ClaimStatementFailed(duration=duration):
                self._write(Kind.UNANSWERED, took=duration)
            case TickEnded():
                self._write(
                    Kind.TICK,
                    job_id=event.tick.job_id,
                    scheduled_at=event.tick.scheduled_at,
                    outcome=event.outcome,
                    reason=event.reason or "",
                    claimed_by=event.claimed_by or "",
                )

    def _write(self, kind: Kind, **what: Any) -> None:
        note = Note(
            replica=self._replica,
            kind=kind,
            stamp=true_time(),
            shown=self._clock.now(),
            pid=os.getpid(),
            **what,
        )
        append(self._path, note)
