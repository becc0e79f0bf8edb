"""The values everything else speaks in: frozen, and refusing nonsense at birth."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from onebeat.errors import InvalidJob, InvalidSetting

LONGEST = timedelta(days=36_500)
"""What any duration is capped at, so that sums of durations never overflow a date."""


def checked_name(field: str, got: object) -> str:
    """*got*, a job id or app name: 1–200 characters of UTF-8, none of them a control (J-ADD)."""
    expected = "1 to 200 characters of valid UTF-8 without control characters"
    if not isinstance(got, str) or not 1 <= len(got) <= 200:
        raise InvalidJob(field, got, expected)
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in got):
        raise InvalidJob(field, got, expected)
    return got


def checked_duration(field: str, got: object) -> timedelta:
    """*got* seconds or timedelta, as a timedelta above zero and capped at LONGEST (J-TIME)."""
    seconds = got.total_seconds() if isinstance(got, timedelta) else got
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidSetting(field, got, "seconds or a timedelta")
    if not 0 < seconds < math.inf:  # an int may be larger than any float is
        raise InvalidSetting(field, got, "a finite duration above zero")
    if seconds < 1e-6:
        raise InvalidSetting(field, got, "at least one microsecond")
    return min(timedelta(seconds=min(seconds, LONGEST.total_seconds())), LONGEST)


def checked_instant(field: str, got: object) -> datetime:
    """*got*, an aware datetime, in UTC. Raises InvalidJob for a naive one."""
    if not isinstance(got, datetime) or got.tzinfo is None or got.utcoffset() is None:
        raise InvalidJob(field, got, "a timezone-aware datetime", "datetime.now(UTC), say")
    try:
        return got.astimezone(UTC)
    except OverflowError:
        raise InvalidJob(
            field, got, "an instant that UTC has too", "datetime.max.replace(tzinfo=UTC)"
        ) from None


@dataclass(frozen=True, slots=True, order=True)
class Tick:
    """One due time of one job. Equal on every replica: that is the claim key (S-KEY).

    `scheduled_at` is kept in UTC, whatever zone it was given in.
    """

    job_id: str
    scheduled_at: datetime

    def __post_init__(self) -> None:
        if getattr(self.scheduled_at, "tzinfo", None) is not UTC:
            instant = checked_instant("scheduled_at", self.scheduled_at)
            object.__setattr__(self, "scheduled_at", instant)


@dataclass(frozen=True, slots=True)
class Replica:
    """Who asks: the app whose jobs it runs, its identity and the label people know it by.

    `id` is random per scheduler start and decides; `label` is shown and decides nothing (C-ID).
    """

    app: str
    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Bid:
    """One replica's request to run one tick.

    `token` is random per attempt: asked again with it, the store says "yours", not "taken".
    `lease` is how long an unreleased claim blocks the job's later ticks;
    None means overlap is allowed, and the tick is judged by its own row.
    `attempt` above 1 asks for a tick whose attempt before that was judged lost (C-CRASH); `rerun` says
    that this one, if lost, may be asked for so. `triggered` asks for a tick that somebody triggered: its
    row waits for a holder, and it neither obeys nor moves the job's watermark.
    """

    tick: Tick
    token: str
    lease: timedelta | None
    attempt: int = 1
    rerun: bool = False
    triggered: bool = False


class Ruling(StrEnum):
    """What a store answers to a bid."""

    WON = "won"
    CLAIMED = "claimed"  # this tick, or with overlap forbidden a later one, was ever claimed
    OVERLAPPED = "overlapped"  # an earlier claim of the job is neither released nor lapsed
    PAUSED = "paused"  # the job, its prefix or the whole app is paused (F-PAUSE)
    EARLY = "early"  # later than the store's clock plus its tolerance (C-EARLY)
    EXPIRED = "expired"  # decided after the claim timeout: nothing was claimed (C-CANCEL)


@dataclass(frozen=True, slots=True)
class Answer:
    """The store's word on one bid.

    `store_time` is the store's clock (UTC) when it decided. `watermark` is the newest tick ever
    claimed of the job. `fence`, `attempt`, `previous_at` (the job's watermark before this claim) and
    `owed_since` belong to a won bid: after `owed_since` every tick of the job is to have a verdict. That is
    the latest of the job's registration, the last change of its schedule, the end of its last pause, and the
    newest tick whose release has accounted for all before it. `claimed_by` is the label of the replica that
    holds the tick, where known.
    """

    tick: Tick
    token: str
    ruling: Ruling
    store_time: datetime
    watermark: datetime | None = None
    fence: int = 0
    attempt: int = 1
    previous_at: datetime | None = None
    owed_since: datetime | None = None
    claimed_by: str | None = None

    def __post_init__(self) -> None:
        for instant in (self.store_time, self.watermark):
            if instant is not None and instant.tzinfo is None:
                raise InvalidSetting("answer", instant, "timezone-aware times")

    @property
    def won(self) -> bool:
        return self.ruling is Ruling.WON


class Verdict(StrEnum):
    """What finally became of a tick, across the fleet (F-VERDICT).

    Of a tick that nobody has won it is provisional, `missed` apart: whoever wins it replaces it.
    """

    RAN = "ran"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"
    OVERLAPPED = "overlapped"
    PAUSED = "paused"
    MISSED = "missed"
    EARLY = "early"
    CLAIM_ERROR = "claim_error"


class Wanted(StrEnum):
    """What the fleet is asked to do with a tick."""

    RUN = "run"  # triggered: whoever claims its row runs it
    RERUN = "rerun"  # lost, and may be run again as the next attempt
    CANCEL = "cancel"  # its holder is to cancel the run


TRACEBACK = "\n\nIts traceback:\n"
"""What stands in the text of an error between what it says and where it was raised."""


@dataclass(frozen=True, slots=True)
class Release:
    """The end of a claim, by tick and token: it never touches a newer claim.

    Times are aware; None where the body never started. `error` is bounded text: what it says, then TRACEBACK
    and where it was raised, if it was. `trace_id` is that of the run's trace, 32 hex digits, where there is
    one. `missed` are earlier instants of the job that nobody claimed: they get that verdict, unless they have
    a row. `accounts`: with it every tick of the job up to this one has a verdict, or a claim.
    """

    tick: Tick
    token: str
    verdict: Verdict
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str | None = None
    trace_id: str | None = None
    missed: tuple[datetime, ...] = ()
    accounts: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """The verdict on a tick that nobody holds. `note` is bounded text: who says so, and why."""

    tick: Tick
    verdict: Verdict
    note: str | None = None


class Outcome(StrEnum):
    """What became of a tick on this replica (T-METRIC)."""

    RAN = "ran"
    FAILED = "failed"
    SKIPPED = "skipped"
    CLAIM_ERROR = "claim_error"


class Reason(StrEnum):
    """Why an outcome was not a plain run (T-METRIC)."""

    # failed
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"  # also of a skipped tick: cancelled before its body began
    LOST = "lost"
    # skipped
    CLAIMED = "claimed"
    OVERLAPPED = "overlapped"
    BUSY = "busy"
    LATE = "late"
    PASSED_OVER = "passed_over"
    PAUSED = "paused"
    # claim_error
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    REFUSED = "refused"
