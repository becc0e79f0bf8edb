"""Recorder: an observer that keeps what happened, for a test to ask about."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TypeVar

from onebeat.events import Event, RunEnded, TickEnded
from onebeat.model import Outcome

_Event = TypeVar("_Event")


class Recorder:
    """Keeps every event, in order. `Scheduler(observers=[recorder])`."""

    inline = True  # a test asks right after the event: it must not be on its way in a thread

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[_Event]) -> list[_Event]:
        """The events of one kind, in the order they happened."""
        return [event for event in self.events if isinstance(event, kind)]

    def ended(self, job_id: str | None = None) -> list[TickEnded]:
        """What became of each tick, of one job or of all."""
        return [event for event in self.of(TickEnded) if job_id in (None, event.tick.job_id)]

    def ran(self, job_id: str) -> list[datetime]:
        """The due times of this job whose body ran and returned."""
        return [event.tick.scheduled_at for event in self.ended(job_id) if event.outcome is Outcome.RAN]

    def runs(self, job_id: str | None = None) -> list[RunEnded]:
        """The runs that have ended, on demand or of a tick, of one job or of all."""
        return [event for event in self.of(RunEnded) if job_id in (None, event.job_id)]

    def outcomes(self, job_id: str | None = None) -> Counter[Outcome]:
        """How many ticks ended in each outcome."""
        return Counter(event.outcome for event in self.ended(job_id))

    def errors(self) -> list[BaseException]:
        """Everything that went wrong in a body or a store, in order; an error told twice appears once."""
        told = (getattr(event, "error", None) for event in self.events)
        unique = {id(error): error for error in told if isinstance(error, BaseException)}
        return list(unique.values())

    def clear(self) -> None:
        """Forget everything so far."""
        self.events.clear()
