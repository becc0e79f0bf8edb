"""CONTRACT what happened: the engine reports frozen events, observers turn them into logs, metrics, traces.

The engine itself neither logs nor measures. Instants are in UTC, durations in seconds. An event is equal to
itself alone: two that read alike have still happened twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from onebeat.errors import Cancelled, ClaimFailed
from onebeat.model import Outcome, Reason, Replica, Tick

run_trace_id: ContextVar[str | None] = ContextVar("onebeat_run_trace_id", default=None)
"""Set by whoever traces a run, when told of its RunStarted: 32 hex digits, kept in the history."""


@dataclass(frozen=True, slots=True, eq=False)
class SchedulerStarted:
    """A replica is ready. `store` is the store's label, None without one; `every_replica` names the
    jobs that asked to run on every replica; `first_due` is the first instant anything is due."""

    replica: Replica
    store: str | None
    jobs: tuple[str, ...]
    every_replica: tuple[str, ...]
    first_due: datetime | None


@dataclass(frozen=True, slots=True, eq=False)
class SchedulerStopping:
    """No work is admitted any more; `running` ids are being cancelled."""

    replica: Replica
    running: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SchedulerStopped:
    """The scheduler has returned. `outlived` names the ids whose runs did not end in time."""

    replica: Replica
    outlived: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TickEnded:
    """Exactly one for each tick a replica evaluates, passed-over ones apart (see TicksPassedOver).

    `delay` is how long after its instant this was decided or, of a run, its body began.
    `claimed_by` is the label of the replica that has the tick, where the store told.
    """

    tick: Tick
    outcome: Outcome
    reason: Reason | None = None
    delay: float = 0.0
    error: BaseException | None = None
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TicksPassedOver:
    """A late wake ran only the latest tick of a job; `count` earlier ones were passed over (W-LATE).

    `exact` is False when there were too many to count one by one: then there were at least `count`.
    """

    job_id: str
    count: int
    latest: datetime
    exact: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class RunStarted:
    """A body is about to be called. Observed in the run's own task and context."""

    job_id: str
    run_id: str
    tick: Tick | None
    started_at: datetime
    lateness: float
    attempt: int


@dataclass(frozen=True, slots=True, eq=False)
class RunEnded:
    """A body has ended. Observed in the task and context of its RunStarted, before its TickEnded.

    `outcome` is RAN or FAILED; `reason` is None for a body that raised of its own accord.
    """

    job_id: str
    run_id: str
    tick: Tick | None
    outcome: Outcome
    reason: Reason | None
    finished_at: datetime
    duration: float
    error: BaseException | None


@dataclass(frozen=True, slots=True, eq=False)
class RunDropped:
    """Admitted or pending on-demand work that never ran, with the cause."""

    job_id: str
    cause: Cancelled


@dataclass(frozen=True, slots=True, eq=False)
class ClaimAnswered:
    """One claim statement has answered."""

    bids: int
    won: int
    duration: float


@dataclass(frozen=True, slots=True, eq=False)
class ClaimStatementFailed:
    """One claim statement has failed, and is asked again if `again`; else it cost `ticks` ticks."""

    error: ClaimFailed
    job_ids: tuple[str, ...]
    again: bool
    duration: float

    @property
    def ticks(self) -> int:
        return 0 if self.again else len(self.job_ids)


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseFailed:
    """One release statement has failed. It is tried again in the background until the leases end."""

    error: ClaimFailed
    job_ids: tuple[str, ...]
    again: bool


@dataclass(frozen=True, slots=True, eq=False)
class PermitsFailed:
    """The permits of a limit that the fleet shares can be neither taken nor given back; told once until they
    can. `waiting` runs wait here, and none of them begins without one (J-LIMIT)."""

    error: ClaimFailed
    prefix: str
    waiting: int


@dataclass(frozen=True, slots=True, eq=False)
class StoreRecovered:
    """The store answers again after `failures` failed statements in `after` seconds."""

    failures: int
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleFailed:
    """A schedule written elsewhere raised, or answered nonsense: its job has no more ticks."""

    job_id: str
    error: BaseException


@dataclass(frozen=True, slots=True, eq=False)
class ClockStepped:
    """The wall clock was set back by `seconds`; those instants are evaluated again (W-BACK)."""

    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class ClockAhead:
    """The store refused `tick` as too early: this replica's clock leads the store's by `skew` seconds."""

    tick: Tick
    skew: float


@dataclass(frozen=True, slots=True, eq=False)
class WatermarkAhead:
    """A job's watermark lies `ahead` seconds beyond the store's clock: its ticks are refused until then.

    A clock was wrong once; see `onebeat repair`.
    """

    job_id: str
    watermark: datetime
    ahead: float


@dataclass(frozen=True, slots=True, eq=False)
class BeatFailed:
    """This replica's heartbeat has failed: it has not reached the store, or what it brought could not be made
    use of. Told once until it works again. Others may declare this replica dead after `ttl` seconds of it."""

    error: ClaimFailed
    ttl: float


@dataclass(frozen=True, slots=True, eq=False)
class BeatsOnJobLoop:
    """The store serves only the jobs' loop, so the heartbeat lives there too: a job that blocks the loop
    for longer than the time to live loses its lease. `pool` is the kind of pool."""

    pool: str


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaLapsed:
    """This replica had been declared dead, and goes on under a new identity. `kept` are the ticks it still
    runs, `lost` those taken over meanwhile: their runs are cancelled with LeaseLost (F-LOST)."""

    replica: Replica
    kept: tuple[Tick, ...]
    lost: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TicksLost:
    """This replica has declared others dead; these ticks were lost with them (C-CRASH)."""

    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FailedOver:
    """The database goes on under another timeline: a standby took over, and may not know the last claims.
    `asserted` claims were made again; `lost` ticks had been claimed by others meanwhile, and may have run
    twice.
    """

    timeline: str
    asserted: int
    lost: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReplicasDisagree:
    """Replicas that live side by side differ in schedules, zone data or clocks (F-DRIFT); told once each.
    `what` says so in words."""

    what: str
    job_id: str | None


@dataclass(frozen=True, slots=True, eq=False)
class PruneFailed:
    """Old tick rows could not be pruned this time; nothing depends on it but disk space."""

    error: ClaimFailed


@dataclass(frozen=True, slots=True, eq=False)
class ForkIgnored:
    """This process is a forked copy of a running scheduler: it fires nothing; start one of its own."""

    replica: Replica


@dataclass(frozen=True, slots=True, eq=False)
class AlarmRaised:
    """Something is wrong with a job; of all replicas this one says so (F-SILENT). `condition` is silent,
    failures or missed."""

    job_id: str
    condition: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class AlarmCleared:
    """What an alarm told of is over; of all replicas this one says so."""

    job_id: str
    condition: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class AlertUndelivered:
    """`to` was not told `text` of a job, however often it was tried. No run is touched by that."""

    job_id: str
    text: str
    to: str
    error: BaseException


@dataclass(frozen=True, slots=True, eq=False)
class AlarmsUnjudged:
    """The store does not say how the jobs do: nothing is raised or cleared. Told once until it does."""

    error: ClaimFailed


Event = (
    SchedulerStarted
    | SchedulerStopping
    | SchedulerStopped
    | TickEnded
    | TicksPassedOver
    | RunStarted
    | RunEnded
    | RunDropped
    | ClaimAnswered
    | ClaimStatementFailed
    | ReleaseFailed
    | PermitsFailed
    | StoreRecovered
    | ScheduleFailed
    | ClockStepped
    | ClockAhead
    | WatermarkAhead
    | BeatFailed
    | BeatsOnJobLoop
    | ReplicaLapsed
    | TicksLost
    | FailedOver
    | ReplicasDisagree
    | AlarmRaised
    | AlarmCleared
    | AlertUndelivered
    | AlarmsUnjudged
    | PruneFailed
    | ForkIgnored
)

Observer = Callable[[Event], object]
"""Told of every event. Whatever it raises is logged once and changes nothing.

An observer with a true attribute `inline` is called at once, where the event happens, and promises
never to block; every other one is called from a thread of its own, so that it may.
"""
