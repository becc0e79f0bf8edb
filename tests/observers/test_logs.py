from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from logging import DEBUG, ERROR, INFO, WARNING
from typing import get_args

import pytest

from onebeat.errors import ClaimFailed, ClaimFailure, ShuttingDown, Superseded, TimedOut
from onebeat.events import (
    AlarmCleared,
    AlarmRaised,
    AlarmsUnjudged,
    AlertUndelivered,
    BeatFailed,
    BeatsOnJobLoop,
    ClaimAnswered,
    ClockStepped,
    Event,
    FailedOver,
    ForkIgnored,
    PermitsFailed,
    PruneFailed,
    ReplicaLapsed,
    ReplicasDisagree,
    RunDropped,
    ScheduleFailed,
    SchedulerStopped,
    SchedulerStopping,
    StoreRecovered,
    TicksLost,
    WatermarkAhead,
)
from onebeat.model import Outcome, Reason, Tick
from onebeat.observers.logs import LogObserver
from tests.observers import given
from tests.observers.given import NOON, REPLICA

DOWN = ClaimFailed("no connection")
BOOM = given.raised(ValueError("boom"))

ONE_OF_EACH: list[tuple[Event, list[int]]] = [
    (given.started("report"), [INFO]),
    (SchedulerStopping(REPLICA, ("report",)), [INFO]),
    (SchedulerStopped(REPLICA, ()), [INFO]),
    (given.ended(Outcome.SKIPPED, Reason.CLAIMED), [DEBUG]),
    (given.passed_over(3), [WARNING, DEBUG]),
    (given.run_started(), [DEBUG]),
    (given.run_ended(), [DEBUG]),
    (RunDropped("report", Superseded()), [DEBUG]),
    (ClaimAnswered(3, 1, 0.02), [DEBUG]),
    (given.claim_failed(), [ERROR]),
    (given.release_failed(), [ERROR]),
    (PermitsFailed(DOWN, "mail.", 3), [WARNING]),
    (StoreRecovered(3, 4.5), [INFO]),
    (ScheduleFailed("report", ValueError("boom")), [ERROR]),
    (ClockStepped(90.0), [WARNING]),
    (given.clock_ahead(9.0), [WARNING]),
    (WatermarkAhead("report", NOON, 86_400.0), [ERROR]),
    (BeatFailed(DOWN, 60.0), [WARNING]),
    (BeatsOnJobLoop("psycopg_pool.AsyncConnectionPool"), [WARNING]),
    (ReplicaLapsed(REPLICA, (), (Tick("report", NOON),)), [WARNING]),
    (TicksLost((Tick("report", NOON),)), [WARNING]),
    (FailedOver("00000002", 3, ()), [INFO]),
    (ReplicasDisagree("zone data differ", None), [WARNING]),
    (AlarmRaised("report", "silent", "report has not succeeded for 1:00:00"), [WARNING]),
    (AlarmCleared("report", "silent", "report has succeeded again"), [INFO]),
    (AlertUndelivered("report", "report has succeeded again", "Webhook(host)", BOOM), [ERROR]),
    (AlarmsUnjudged(DOWN), [WARNING]),
    (PruneFailed(DOWN), [WARNING]),
    (ForkIgnored(REPLICA), [WARNING]),
]


class Log:
    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog
        self._observe = LogObserver()

    def of(self, *events: Event) -> list[logging.LogRecord]:
        """What these events add to the log; every message is made, so a wrong format fails here."""
        self._caplog.clear()
        for event in events:
            self._observe(event)
        records = list(self._caplog.records)
        assert all(record.getMessage() for record in records)
        return records

    async def in_one_turn(self, *events: Event) -> list[logging.LogRecord]:
        """The same where a loop runs, and all of them happen in one turn of it."""
        self.of(*events)
        await asyncio.sleep(0)
        records = list(self._caplog.records)
        assert all(record.getMessage() for record in records)
        return records

    def loud(self, *events: Event) -> list[int]:
        return [record.levelno for record in self.of(*events) if record.levelno > DEBUG]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    caplog.set_level(DEBUG, logger="onebeat")
    return Log(caplog)


def levels(records: Sequence[logging.LogRecord]) -> list[int]:
    return [record.levelno for record in records]


@pytest.mark.parametrize(("event", "expected"), ONE_OF_EACH, ids=lambda value: type(value).__name__)
def test_every_event_has_its_level(log: Log, event: Event, expected: list[int]) -> None:
    assert levels(log.of(event)) == expected


def test_no_event_is_forgotten_here() -> None:
    assert [type(event) for event, _ in ONE_OF_EACH] == list(get_args(Event))


def test_the_start_is_one_line_with_replica_store_app_and_jobs(log: Log) -> None:
    """T-LOG: one INFO line at start names replica, store, app and jobs."""
    (record,) = log.of(given.started("report", "mail"))
    assert record.levelno == INFO
    for word in ("'web-1'", "'shop'", "sqlite:///jobs.db", "'report'", "'mail'"):
        assert word in record.getMessage()


def test_thousands_of_jobs_do_not_fill_the_start_line(log: Log) -> None:
    (record,) = log.of(given.started(*(f"job-{n}" for n in range(10_000))))
    assert "10000 jobs" in record.getMessage()
    assert "9980 more" in record.getMessage()
    assert len(record.getMessage()) < 500


@pytest.mark.parametrize(
    ("jobs", "every_replica", "expected"),
    [
        (("report", "mail"), (), [INFO, WARNING]),
        (("report", "mail"), ("mail",), [INFO, WARNING]),
        (("report", "mail"), ("report", "mail"), [INFO]),
        ((), (), [INFO]),
    ],
)
def test_no_store_is_warned_of_unless_every_job_asked_for_it(
    log: Log, jobs: tuple[str, ...], every_replica: tuple[str, ...], expected: list[int]
) -> None:
    """C-EVERY-REPLICA: one WARNING a start without a store; none when every job asks for it."""
    records = log.of(given.started(*jobs, store=None, every_replica=every_replica))
    assert levels(records) == expected


def test_the_warning_names_only_the_jobs_that_did_not_ask(log: Log) -> None:
    records = log.of(given.started("report", "mail", store=None, every_replica=("mail",)))
    assert "'report'" in records[1].getMessage()
    assert "'mail'" not in records[1].getMessage()


def test_runs_that_outlived_the_shutdown_are_named(log: Log) -> None:
    """X-STOP: say which runs outlived it."""
    (record,) = log.of(SchedulerStopped(REPLICA, ("report",)))
    assert record.levelno == WARNING
    assert "'report'" in record.getMessage()


@pytest.mark.parametrize(
    ("reason", "error", "level", "traceback"),
    [
        (None, BOOM, ERROR, True),
        (None, SystemExit(3), ERROR, True),
        (Reason.TIMED_OUT, TimedOut(), ERROR, True),
        (Reason.LOST, None, ERROR, False),
        (Reason.CANCELLED, ShuttingDown(), INFO, False),
        (Reason.CANCELLED, Superseded(), INFO, False),
        (Reason.CANCELLED, None, INFO, False),
        (Reason.CANCELLED, BOOM, WARNING, True),
    ],
)
def test_a_failed_run_is_an_error_with_its_traceback_and_a_cancelled_one_is_not(
    log: Log, reason: Reason | None, error: BaseException | None, level: int, traceback: bool
) -> None:
    """T-LOG: failed runs at ERROR with traceback."""
    failed = given.run_ended(Outcome.FAILED, reason, error)
    (record, *more) = log.of(failed, given.ended(Outcome.FAILED, reason))
    assert not more
    assert record.levelno == level
    assert bool(record.exc_info) is traceback
    assert record.__dict__["onebeat_job"] == "report"
    assert record.__dict__["onebeat_scheduled_at"] == NOON.isoformat()


def test_a_failed_statement_is_one_error_with_one_traceback_and_its_ticks(log: Log) -> None:
    """C-ERROR: one record with one traceback per failed statement and the number of ticks it cost."""
    cost = [
        given.ended(Outcome.CLAIM_ERROR, Reason.UNAVAILABLE, job_id=job_id, error=DOWN)
        for job_id in ("a", "b", "c")
    ]
    records = log.of(given.claim_failed("a", "b", "c"), *cost)
    assert levels(records) == [ERROR, DEBUG, DEBUG, DEBUG]
    assert "3 ticks" in records[0].getMessage()
    assert [bool(record.exc_info) for record in records] == [True, False, False, False]


def test_a_statement_asked_again_warns_once_per_cause(log: Log) -> None:
    """T-LOG: one WARNING per cause."""
    down = given.claim_failed(again=True)
    slow = given.claim_failed(again=True, failure=ClaimFailure.TIMEOUT)
    assert log.loud(down, down, slow, slow) == [WARNING, WARNING]
    assert log.loud(StoreRecovered(4, 2.0), slow) == [INFO, WARNING]


def test_a_conflict_asked_again_is_no_news(log: Log) -> None:
    """D-PG: 40001 and 40P01 are asked again and never a fault by themselves."""
    assert log.loud(given.claim_failed(again=True, failure=ClaimFailure.CONFLICT)) == []


@pytest.mark.parametrize("again", [True, False])
def test_a_failed_release_is_one_error_with_its_traceback(log: Log, again: bool) -> None:
    """C-RELEASE: when it fails that is one ERROR; the engine reports a release only once."""
    (record,) = log.of(given.release_failed("a", "b", again=again))
    assert record.levelno == ERROR
    assert record.exc_info
    assert "'a', 'b'" in record.getMessage()


def test_a_claim_error_no_statement_speaks_for_is_one_error(log: Log) -> None:
    """C-ERROR: a claim that cannot be decided is logged at ERROR, also when no statement failed."""
    refused = given.ended(Outcome.CLAIM_ERROR, Reason.REFUSED)
    assert log.loud(refused, refused) == [ERROR]


@pytest.mark.parametrize("reason", [Reason.OVERLAPPED, Reason.BUSY, Reason.LATE])
def test_a_skip_that_lasts_is_one_warning_until_it_changes(log: Log, reason: Reason) -> None:
    """T-LOG: one WARNING per cause, not one per tick."""
    skipped = given.ended(Outcome.SKIPPED, reason)
    assert log.loud(skipped, skipped, skipped) == [WARNING]
    assert log.loud(given.ended(Outcome.SKIPPED, reason, job_id="mail")) == [WARNING]
    assert log.loud(given.ended(Outcome.RAN), skipped) == [WARNING]
    assert log.loud(given.ended(Outcome.SKIPPED, Reason.CLAIMED), skipped) == [WARNING]


@pytest.mark.parametrize("reason", [Reason.CLAIMED, Reason.CANCELLED, Reason.PASSED_OVER])
def test_losers_are_quiet(log: Log, reason: Reason) -> None:
    """T-LOG: losers are quiet (DEBUG)."""
    assert log.loud(given.ended(Outcome.SKIPPED, reason)) == []


async def test_a_late_wake_is_warned_of_once_with_the_count_of_all_its_jobs(log: Log) -> None:
    """W-LATE: what it passed over is counted and logged once, also where its jobs are busy."""
    wake: list[Event] = [given.passed_over(59), given.ended(Outcome.SKIPPED, Reason.BUSY)]
    wake += [
        given.passed_over(3, "mail", exact=False),
        given.ended(Outcome.SKIPPED, Reason.BUSY, job_id="mail"),
    ]
    records = await log.in_one_turn(*wake)
    assert [record.__dict__["onebeat_job"] for record in records[:2]] == ["report", "mail"]
    [late, busy] = [record for record in records if record.levelno > DEBUG]
    assert "at least 62 ticks" in late.getMessage()
    assert "'report', 'mail'" in late.getMessage()
    assert "2 ticks skipped, busy, of 'report', 'mail'" in busy.getMessage()


@pytest.mark.parametrize(
    ("outcome", "reason", "level"),
    [
        (Outcome.SKIPPED, Reason.BUSY, WARNING),
        (Outcome.SKIPPED, Reason.LATE, WARNING),
        (Outcome.SKIPPED, Reason.OVERLAPPED, WARNING),
        (Outcome.CLAIM_ERROR, Reason.REFUSED, ERROR),
    ],
)
async def test_what_keeps_many_jobs_from_running_is_one_record(
    log: Log, outcome: Outcome, reason: Reason, level: int
) -> None:
    """T-LOG: one per cause in one wake, DEBUG for each tick, and nothing more until it changes."""
    wake = [given.ended(outcome, reason, job_id=f"job-{n}") for n in range(1_000)]
    records = await log.in_one_turn(*wake)
    [loud] = [record for record in records if record.levelno > DEBUG]
    assert loud.levelno == level
    assert "1000 ticks" in loud.getMessage()
    assert "980 more" in loud.getMessage()
    assert loud.__dict__["onebeat_ticks"] == 1_000
    assert len(records) == 1_001
    again = await log.in_one_turn(*wake, given.ended(outcome, reason, job_id="new"))
    assert [record.__dict__["onebeat_job"] for record in again if record.levelno > DEBUG] == ["new"]


def test_each_late_wake_is_warned_of(log: Log) -> None:
    wake, then = given.passed_over(5), given.ended(Outcome.RAN)
    assert log.loud(wake, then, wake, then) == [WARNING, WARNING]


def test_a_clock_ahead_is_warned_of_once_until_it_is_right_again_or_drifts(log: Log) -> None:
    """C-EARLY: the skew is logged, once per cause."""
    first = given.clock_ahead(9.0)
    assert log.loud(first, given.clock_ahead(9.2, job_id="mail"), given.clock_ahead(9.1, minute=1)) == [
        WARNING
    ]
    ran = given.ended(Outcome.RAN, minute=1)
    assert log.loud(ran, given.clock_ahead(9.1, minute=2)) == [], "only that tick, run on time"
    assert log.loud(given.clock_ahead(12.0, minute=3)) == [WARNING]
    right_again = given.ended(Outcome.SKIPPED, Reason.CLAIMED, minute=4)
    assert log.loud(right_again, given.clock_ahead(12.0, minute=5)) == [WARNING]


def test_a_watermark_ahead_is_one_error_a_job(log: Log) -> None:
    """C-EARLY: a watermark further ahead of the store's clock is reported once at ERROR."""
    ahead = WatermarkAhead("report", NOON, 86_400.0)
    assert log.loud(ahead, ahead, WatermarkAhead("mail", NOON, 86_400.0)) == [ERROR, ERROR]


@pytest.mark.parametrize(
    ("cause", "level"), [(Superseded(), DEBUG), (ShuttingDown(), INFO), (TimedOut(), WARNING)]
)
def test_dropped_work_is_as_loud_as_its_cause(
    log: Log, cause: Superseded | ShuttingDown | TimedOut, level: int
) -> None:
    assert levels(log.of(RunDropped("report", cause))) == [level]


def test_a_hostile_id_cannot_forge_a_line(log: Log) -> None:
    hostile = "report\u2028ERROR all is lost\u202e %s {0}"
    events: list[Event] = [
        given.run_started(job_id=hostile),
        given.run_ended(job_id=hostile),
        given.started(hostile),
    ]
    for record in log.of(*events):
        assert repr(hostile) in record.getMessage()
        assert "\u2028" not in record.getMessage()


def test_every_record_about_a_job_carries_its_id(log: Log) -> None:
    """T-LOG: every record about a job carries its id."""
    about: list[Event] = [
        given.ended(Outcome.SKIPPED, Reason.BUSY),
        given.passed_over(3),
        given.run_started(),
        given.run_ended(),
        RunDropped("report", TimedOut()),
        given.claim_failed(),
        given.release_failed(),
        given.clock_ahead(9.0),
        WatermarkAhead("report", NOON, 86_400.0),
        ScheduleFailed("report", ValueError("boom")),
    ]
    records = log.of(*about)
    assert {record.__dict__.get("onebeat_job") for record in records} == {"report"}
    assert all("'report'" in record.getMessage() for record in records)


def test_another_logger_may_be_given(caplog: pytest.LogCaptureFixture) -> None:
    LogObserver(logging.getLogger("shop.jobs"))(ForkIgnored(REPLICA))
    assert [record.name for record in caplog.records] == ["shop.jobs"]
