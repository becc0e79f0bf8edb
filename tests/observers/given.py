"""Events as the engine makes them, with what a test does not care about filled in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import (
    ClaimStatementFailed,
    ClockAhead,
    ReleaseFailed,
    RunEnded,
    RunStarted,
    SchedulerStarted,
    TickEnded,
    TicksPassedOver,
)
from onebeat.model import Outcome, Reason, Replica, Tick

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
REPLICA = Replica(app="shop", id="r4nd0m", label="web-1")


def tick(minute: int = 0, job_id: str = "report") -> Tick:
    return Tick(job_id, NOON + timedelta(minutes=minute))


def started(
    *jobs: str, store: str | None = "sqlite:///jobs.db", every_replica: tuple[str, ...] = ()
) -> SchedulerStarted:
    return SchedulerStarted(REPLICA, store, jobs, every_replica, NOON if jobs else None)


def ended(
    outcome: Outcome,
    reason: Reason | None = None,
    *,
    minute: int = 0,
    job_id: str = "report",
    error: BaseException | None = None,
) -> TickEnded:
    return TickEnded(tick(minute, job_id), outcome, reason, 0.25, error)


def run_started(run_id: str = "run-1", *, job_id: str = "report", on_demand: bool = False) -> RunStarted:
    return RunStarted(job_id, run_id, None if on_demand else tick(0, job_id), NOON, 0.25, 1)


def run_ended(
    outcome: Outcome = Outcome.RAN,
    reason: Reason | None = None,
    error: BaseException | None = None,
    *,
    run_id: str = "run-1",
    job_id: str = "report",
    on_demand: bool = False,
) -> RunEnded:
    due = None if on_demand else tick(0, job_id)
    return RunEnded(job_id, run_id, due, outcome, reason, NOON + timedelta(seconds=3), 3.0, error)


def passed_over(count: int, job_id: str = "report", *, exact: bool = True) -> TicksPassedOver:
    return TicksPassedOver(job_id, count, NOON, exact)


def claim_failed(
    *job_ids: str, again: bool = False, failure: ClaimFailure = ClaimFailure.UNAVAILABLE
) -> ClaimStatementFailed:
    return ClaimStatementFailed(ClaimFailed("no connection", failure), job_ids or ("report",), again, 0.5)


def release_failed(*job_ids: str, again: bool = True) -> ReleaseFailed:
    return ReleaseFailed(ClaimFailed("no connection"), job_ids or ("report",), again)


def clock_ahead(skew: float, *, minute: int = 0, job_id: str = "report") -> ClockAhead:
    return ClockAhead(tick(minute, job_id), skew)


def raised(error: BaseException) -> BaseException:
    """*error* with a traceback, as a body leaves it."""
    try:
        raise error
    except BaseException as caught:
        return caught
