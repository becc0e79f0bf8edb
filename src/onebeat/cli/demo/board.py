"""What the demo shows, gathered from the reports of its replicas: a row a tick."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from onebeat.cli.demo.reports import Kind, Report
from onebeat.cli.demo.summary import Refusal
from onebeat.model import Outcome, Reason, Tick
from onebeat.schedule import Schedule


@dataclass(slots=True)
class Row:
    """One tick: who won it, who skipped it and why, and what came of it."""

    tick: Tick
    next_at: datetime | None
    winner: str | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    result: str = ""

    @property
    def running(self) -> bool:
        return self.result == "running"

    @property
    def outcome(self) -> str:
        if self.result:
            return self.result
        if Reason.OVERLAPPED in self.skipped.values():
            return "blocked by the lease"
        return ", ".join(sorted(set(self.skipped.values())))

    def told_by(self, label: str) -> bool:
        return label in self.skipped or (label == self.winner and not self.running)


class Board:
    """The rows, and how the replicas are."""

    def __init__(self, labels: Collection[str], schedules: Mapping[str, Schedule]) -> None:
        self.rows: dict[Tick, Row] = {}
        self.ready_at: dict[str, datetime] = {}
        self.killed: str | None = None
        self.refusals: list[Refusal] = []
        self._labels = labels
        self._schedules = schedules

    @property
    def ready(self) -> bool:
        return len(self.ready_at) == len(self._labels)

    @property
    def alive(self) -> list[str]:
        return [label for label in self._labels if label in self.ready_at and label != self.killed]

    @property
    def states(self) -> list[str]:
        """How each replica is, in words."""
        return [f"{label} {self._state(label)}" for label in self._labels]

    @property
    def running(self) -> list[Row]:
        return [row for row in self.rows.values() if row.running]

    def told(self, row: Row) -> bool:
        """Whether every living replica has said what became of this tick."""
        return all(row.told_by(label) for label in self.alive)

    def note(self, label: str, report: Report) -> None:
        """Take in what the replica *label* reports."""
        if report.kind is Kind.READY and report.at:
            self.ready_at[label] = report.at
        elif report.tick:
            self._note_tick(label, report.tick, report)

    def note_killed(self, label: str) -> None:
        """The replica *label* is dead, and whatever it ran with it."""
        self.killed = label
        for row in self.running:
            if row.winner == label:
                row.result = f"lost: {label} killed"

    def _state(self, label: str) -> str:
        return "killed" if label == self.killed else "up" if label in self.ready_at else "starting"

    def _note_tick(self, label: str, tick: Tick, report: Report) -> None:
        row = self.rows.get(tick)
        if row is None:
            next_at = self._schedules[tick.job_id].next_after(tick.scheduled_at)
            row = self.rows[tick] = Row(tick, next_at)
        if report.kind is Kind.STARTED:
            row.winner, row.result = label, "running"
        elif report.outcome in (Outcome.RAN, Outcome.FAILED):
            row.winner, row.result = label, " ".join(filter(None, (report.outcome, report.reason)))
        else:
            row.skipped[label] = report.reason
            self.refusals.append(Refusal(tick, report.reason, report.claimed_by))
