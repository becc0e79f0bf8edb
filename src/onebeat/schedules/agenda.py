"""What a wake-up owes: instants in, ticks out. Equal schedules are computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from onebeat.model import Tick
from onebeat.schedule import Schedule

_MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class Owed:
    """The latest due tick of a job, and how many earlier ones a late wake passes over for it.

    `exact` is False when they were too many to count: then there were at least `passed_over`.
    """

    tick: Tick
    passed_over: int = 0
    exact: bool = True


@dataclass(slots=True)
class _Entry:
    """The jobs of one schedule, each with the instant since when it has been there; its next due instant.

    `error`: why it has none any more.
    """

    schedule: Schedule
    since: dict[str, datetime] = field(default_factory=dict)
    due: datetime | None = None
    error: BaseException | None = None


class Agenda:
    """The schedules of all jobs and what comes next. Decides only; the ticker sleeps and admits.

    A schedule written elsewhere may raise or answer nonsense: it is set aside, and its jobs are named once
    by `failures`; the others go on.
    """

    def __init__(self) -> None:
        self._entries: dict[Schedule, _Entry] = {}
        self._schedules: dict[str, Schedule] = {}
        self._failures: list[tuple[str, BaseException]] = []

    def add(self, job_id: str, schedule: Schedule, since: datetime) -> None:
        """Owe *job_id* its ticks after *since*."""
        entry = self._entries.get(schedule)
        if entry is None:
            entry = self._entries[schedule] = _Entry(schedule)
            entry.since[job_id] = since
            entry.due = self._next(entry, since)
        elif entry.error is not None:
            self._failures.append((job_id, entry.error))
        entry.since[job_id] = since
        self._schedules[job_id] = schedule

    def remove(self, job_id: str) -> None:
        schedule = self._schedules.pop(job_id, None)
        if schedule is not None:
            entry = self._entries[schedule]
            del entry.since[job_id]
            if not entry.since:
                del self._entries[schedule]

    def next_due(self) -> datetime | None:
        """The first instant at which anything is due; None when nothing ever is."""
        return min((entry.due for entry in self._entries.values() if entry.due is not None), default=None)

    def upcoming(self) -> Iterator[tuple[str, datetime]]:
        """Each job's next due instant, of those that have one."""
        for entry in list(self._entries.values()):
            if entry.due is not None:
                for job_id in list(entry.since):
                    yield job_id, entry.due

    def owed(self, until: datetime) -> list[Owed]:
        """The latest tick up to and including *until* of each job that came due, each job once (W-LATE)."""
        owed: list[Owed] = []
        budget = _MOST_COUNTED
        for entry in list(self._entries.values()):
            if entry.due is not None and entry.due <= until:
                dues, exact = self._dues(entry, until, budget)
                budget = max(0, budget - len(dues))
                owed.extend(_owed_of(entry, dues, exact))
        return owed

    def restart(self, moment: datetime) -> None:
        """The clock was set back to *moment*: what lies after it is due again (W-BACK)."""
        for entry in list(self._entries.values()):
            for job_id, since in entry.since.items():
                entry.since[job_id] = min(since, moment)
            entry.error = None
            entry.due = self._next(entry, moment)

    def failures(self) -> list[tuple[str, BaseException]]:
        """The jobs whose schedules failed since this was last asked, with the errors."""
        failures, self._failures = self._failures, []
        return failures

    def _dues(self, entry: _Entry, until: datetime, budget: int) -> tuple[list[datetime], bool]:
        """The due instants up to *until*, in order, and whether they are all; moves the entry past them."""
        dues: list[datetime] = []
        due = entry.due
        while due is not None and due <= until:
            if len(dues) > budget:
                return self._skip_ahead(entry, dues, until), False
            dues.append(due)
            due = self._next(entry, due)
        entry.due = due
        return dues, True

    def _skip_ahead(self, entry: _Entry, dues: list[datetime], until: datetime) -> list[datetime]:
        entry.due = self._next(entry, until)
        try:
            latest = entry.schedule.previous_before(entry.due) if entry.due else None
            if latest is not None and dues[-1] < latest <= until:
                return [*dues, latest.astimezone(UTC)]
        except (Exception, SystemExit) as error:
            self._fail(entry, error)
        return dues

    def _next(self, entry: _Entry, moment: datetime) -> datetime | None:
        try:
            due = entry.schedule.next_after(moment)
            if due is None:
                return None
            due = due.astimezone(UTC) if due.tzinfo is not None else due
            if due <= moment:
                raise ValueError(f"next_after({moment}) answered {due}, which is not later")
        except (Exception, SystemExit) as error:
            self._fail(entry, error)
            return None
        return due

    def _fail(self, entry: _Entry, error: BaseException) -> None:
        entry.due, entry.error = None, error
        self._failures.extend((job_id, error) for job_id in entry.since)


def _owed_of(entry: _Entry, dues: list[datetime], exact: bool) -> Iterable[Owed]:
    for job_id, since in entry.since.items():
        own = dues if dues[0] > since else [due for due in dues if due > since]
        if own:
            yield Owed(Tick(job_id, own[-1]), len(own) - 1, exact)
