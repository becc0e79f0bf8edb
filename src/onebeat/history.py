"""CONTRACT what did happen: read by the command line and the pages, on any machine that reaches the store.

Instants are in UTC, durations in seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from onebeat.errors import InvalidSetting
from onebeat.model import Tick, Verdict, Wanted, checked_instant

T = TypeVar("T")

MOST_ROWS = 1_000
"""How many rows a page has at most."""

MOST_MARKS = 100
"""How many marks of each job are told at most."""

END_OF_TIME = datetime.max.replace(tzinfo=UTC)
"""Until when something is paused that has no end."""

OF_LATE = timedelta(days=1)
"""How long the dead are shown among the replicas."""


@dataclass(frozen=True, slots=True)
class TickRecord:
    """One tick and what became of it.

    `verdict` is None while its claim is unreleased: it runs, as far as the store knows. `provisional`
    says that a winner may still replace it. `replica` is the label of its holder, `replica_id` the identity.
    `note` is the error of a run, or says who gave the verdict. `by` and `reason` are those of a trigger.
    """

    tick: Tick
    verdict: Verdict | None
    provisional: bool
    replica: str | None
    replica_id: str | None
    attempt: int
    fence: int
    claimed_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None
    trace_id: str | None
    wanted: Wanted | None
    triggered: bool
    by: str | None
    reason: str | None

    @property
    def lateness(self) -> float | None:
        """Seconds from its instant to the start of its body."""
        return None if self.started_at is None else (self.started_at - self.tick.scheduled_at).total_seconds()

    @property
    def duration(self) -> float | None:
        """Seconds that its body took."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Mark(NamedTuple):
    """A tick in short, to be drawn: `verdict` is None while it runs or waits, `lateness` and `duration` are
    those of its TickRecord."""

    scheduled_at: datetime
    verdict: Verdict | None
    lateness: float | None
    duration: float | None


class Tally(NamedTuple):
    """How many `ticks` of a stretch of time that begins at `since` have a verdict."""

    since: datetime
    verdict: Verdict
    ticks: int


@dataclass(frozen=True, slots=True)
class JobState:
    """One job as the store knows it. `schedule` is the text last registered, `owed_since` when that was (or
    the first registration, or the end of the last pause).

    `holder` is the label of the replica whose claim blocks later ticks, until `lease_until` at most.
    `paused_until` is None when no pause covers it, the end of time (year 9999) for one without an end.
    `failures` counts the runs in a row that did not end well; `last_success_at` is when one last did.
    """

    job_id: str
    schedule: str | None
    watermark: datetime | None
    first_seen: datetime
    owed_since: datetime
    holder: str | None
    lease_until: datetime | None
    paused_until: datetime | None
    last_verdict: Verdict | None
    last_success_at: datetime | None
    failures: int


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica, living or dead. `skew` is by how many seconds its clock led the store's at its last beat.
    `jobs` are its registrations: the digests of its schedules by job id, for F-DRIFT."""

    id: str
    label: str
    version: str
    zone_data: str
    pid: int
    started_at: datetime
    beat_at: datetime
    healthy_since: datetime
    dead_at: datetime | None
    skew: float
    jobs: dict[str, str]

    @property
    def left(self) -> bool:
        """Whether it stopped in order: nobody had to declare it dead."""
        return self.dead_at is not None and self.dead_at == self.beat_at


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What somebody asked of the fleet. `action` is pause, resume, trigger or cancel; `target` in words."""

    number: int
    at: datetime
    action: str
    target: str
    by: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows, and the cursor that continues after them; None at the end."""

    rows: tuple[T, ...]
    next: str | None


class Order(StrEnum):
    """In which order pages come: by instant, then job id, both descending or both ascending."""

    NEWEST_FIRST = "newest first"
    OLDEST_FIRST = "oldest first"


def checked_text(field: str, got: str) -> str:
    """*got*, where some row may hold it. Raises InvalidSetting for one with a NUL or half of a surrogate
    pair, which each store would refuse in its own way."""
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in got):
        raise InvalidSetting(field, got, "valid UTF-8 without NUL")
    return got


@dataclass(frozen=True, slots=True)
class TickFilter:
    """Which ticks: of one job or of ids with a prefix, with one of these verdicts, held by the replica of
    this label, scheduled in [since, until), `running` alone. None and () leave nothing out.

    Raises InvalidSetting for a text that no row can hold, InvalidJob for a naive instant."""

    job_id: str | None = None
    prefix: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    replica: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    running: bool = False

    def __post_init__(self) -> None:
        for name in ("job_id", "prefix", "replica"):
            checked_text(name, getattr(self, name) or "")
        for name in ("since", "until"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, checked_instant(name, given))


def history_side(store: object) -> RunHistory | None:
    """*store* as a RunHistory; None for one that cannot be asked."""
    has_all = all(
        callable(getattr(store, name, None)) for name in ("ticks", "tick", "jobs", "job", "replicas")
    )
    return cast(RunHistory, store) if has_all else None


class RunHistory(Protocol):
    """Reads, and never holds up a claim. Pages are walked by key: what is there from the first page to the
    last comes up exactly once, whatever is added meanwhile. All raise ClaimFailed when the store cannot
    answer, InvalidSetting for a limit outside 1 to MOST_ROWS, a cursor it did not give, or a text that no
    row can hold."""

    async def ticks(
        self,
        which: TickFilter,
        *,
        app: str,
        limit: int,
        after: str | None = None,
        order: Order = Order.NEWEST_FIRST,
    ) -> Page[TickRecord]:
        """*limit* of them in that order, after the cursor. A cursor may be followed in the other order too:
        back over what was told before."""

    async def tick(self, tick: Tick, *, app: str) -> TickRecord | None:
        """What is known of one tick; None without a row."""

    async def marks(self, job_ids: Collection[str], *, app: str, each: int) -> Mapping[str, Sequence[Mark]]:
        """The newest *each* ticks of each of these jobs, the oldest first: none of a job without any.

        InvalidSetting for more than MOST_ROWS ids, or more than MOST_MARKS each."""

    async def jobs(
        self, *, app: str, prefix: str = "", limit: int, after: str | None = None
    ) -> Page[JobState]:
        """The jobs, by id."""

    async def job(self, job_id: str, *, app: str) -> JobState | None:
        """One job; None when no replica ever registered or claimed it."""

    async def replicas(self, *, app: str) -> Sequence[ReplicaState]:
        """The living, then those that died OF_LATE by the store's clock, each by when they started."""

    async def audit(self, *, app: str, limit: int, after: str | None = None) -> Page[AuditRecord]:
        """What was asked of the fleet, the newest first."""

    async def store_time(self) -> datetime:
        """The store's clock, by which beats and leases are to be judged."""

    async def counts(self, *, app: str, since: datetime, until: datetime) -> dict[Verdict, int]:
        """How many ticks scheduled in [since, until) have which verdict; one that none has is left out."""

    async def tally(
        self, verdicts: Collection[Verdict], *, app: str, since: datetime, until: datetime, step: timedelta
    ) -> Sequence[Tally]:
        """The counts of these verdicts alone, for each *step* of [since, until): by time, then by verdict;
        one that none has is left out.

        InvalidSetting for a step that is not whole seconds, or of which there would be over MOST_ROWS."""
