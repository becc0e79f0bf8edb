"""What a process says to the child that runs a body for it, and what it hears: a line of JSON each."""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass
from datetime import datetime

from onebeat.engine.run import Run
from onebeat.errors import Cancelled, LeaseLost, ShuttingDown, Superseded, TimedOut
from onebeat.model import Tick

_LONGEST_TEXT = 2_000
_LONGEST_TRACEBACK = 20_000
_CAUSES = {kind.__name__: kind for kind in (Cancelled, Superseded, ShuttingDown, TimedOut, LeaseLost)}


@dataclass(frozen=True, slots=True)
class Order:
    """The body to be run, and the facts of its run. `lease_left` in seconds, None without a lease."""

    module: str
    name: str
    job_id: str
    run_id: str
    replica: str
    scheduled_at: str | None
    started_at: str | None
    lateness: float
    attempt: int
    fence: int | None
    trace_id: str | None
    lease_left: float | None

    def line(self) -> bytes:
        return _line(asdict(self))

    @classmethod
    def read(cls, line: bytes) -> Order:
        return cls(**json.loads(line))

    def run(self) -> Run:
        """The same run, as the body sees it over there."""
        tick = Tick(self.job_id, datetime.fromisoformat(self.scheduled_at)) if self.scheduled_at else None
        run = Run(self.job_id, self.run_id, replica=self.replica, tick=tick)
        run.started_at = datetime.fromisoformat(self.started_at) if self.started_at else None
        run.lateness, run.attempt, run.fence = self.lateness, self.attempt, self.fence
        run.trace_id = self.trace_id
        return run


@dataclass(frozen=True, slots=True)
class Ending:
    """How a body ended: `kind` is None when it returned, else the name of what it raised."""

    kind: str | None = None
    text: str = ""
    trace: str = ""
    is_cause: bool = False

    @classmethod
    def of(cls, error: BaseException | None) -> Ending:
        if error is None:
            return cls()
        trace = "".join(traceback.format_exception(error))
        return cls(
            type(error).__qualname__,
            _text(error)[:_LONGEST_TEXT],
            trace[-_LONGEST_TRACEBACK:],
            isinstance(error, Cancelled),
        )

    def line(self) -> bytes:
        return _line(asdict(self))

    @classmethod
    def read(cls, line: bytes) -> Ending | None:
        """None for less than a line: whoever wrote it died over it."""
        return cls(**json.loads(line)) if line.endswith(b"\n") else None

    @property
    def cause(self) -> Cancelled | None:
        """What it raised, where that is a cause of ours."""
        return _CAUSES.get(self.kind or "", Cancelled)(self.text) if self.is_cause else None


def cause_line(cause: Cancelled) -> bytes:
    return _line([type(cause).__name__, str(cause)[:_LONGEST_TEXT]])


def read_cause(line: bytes) -> Cancelled:
    kind, text = json.loads(line)
    return _CAUSES.get(kind, Cancelled)(text)


def _line(words: object) -> bytes:
    return json.dumps(words).encode() + b"\n"


TERMINATE = _line("terminate")
"""Said after the cause, to a body that has not ended by then."""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as unprintable:  # an exception of a user's job may fail even to be printed
        return f"(its text raised {type(unprintable).__name__})"
