"""Registering jobs, and the settings of a scheduler."""

from __future__ import annotations

import asyncio
import functools
import threading
from datetime import timedelta
from typing import Any

import pytest

from onebeat import (
    InvalidJob,
    InvalidSchedule,
    InvalidSetting,
    JobExists,
    OnebeatError,
    Scheduler,
    Tick,
    cron,
    every,
)
from onebeat.events import Event, SchedulerStarted
from tests.engine.given import ClaimsAlone, Given


def work() -> None: ...


async def async_work() -> None: ...


class Place:
    def method(self) -> None: ...


@pytest.mark.parametrize("job_id", ["", "x" * 201, "a\nb", "nul\0", "\ud800", None, 7])
def test_an_id_that_is_no_name_is_refused(given: Given, job_id: Any) -> None:
    """J-ADD: 1–200 characters of valid UTF-8 without control characters."""
    scheduler = given.scheduler()
    with pytest.raises(InvalidJob, match="job_id"):
        scheduler.add(job_id, every(60), work)
    assert scheduler.jobs == ()


@pytest.mark.parametrize("job_id", ["a", "x" * 200, "Überweisung – täglich ✓", "'; drop table"])
def test_an_id_may_be_any_text(given: Given, job_id: str) -> None:
    """J-ADD: within its bounds."""
    scheduler = given.scheduler()
    scheduler.add(job_id, every(60), work)
    assert [job.id for job in scheduler.jobs] == [job_id]


@pytest.mark.parametrize(
    ("keywords", "error", "field"),
    [
        ({"job_id": ""}, InvalidJob, "job_id"),
        ({"work": None}, InvalidJob, "work"),
        ({"work": "text"}, InvalidJob, "work"),
        ({"schedule": "61 * * * *"}, InvalidSchedule, "minute"),
        ({"schedule": 5}, InvalidSchedule, "schedule"),
        ({"timeout": 0}, InvalidSetting, "timeout"),
        ({"timeout": float("nan")}, InvalidSetting, "timeout"),
        ({"timeout": "5"}, InvalidSetting, "timeout"),
        ({"lease": -1}, InvalidSetting, "lease"),
        ({"lease": float("inf")}, InvalidSetting, "lease"),
        ({"lease_margin": timedelta(0)}, InvalidSetting, "lease_margin"),
        ({"late": 0}, InvalidSetting, "late"),
        ({"overlap": "maybe"}, InvalidJob, "overlap"),
        ({"on_every_replica": 1}, InvalidJob, "on_every_replica"),
        ({"tiemout": 5}, InvalidJob, "tiemout"),
    ],
)
def test_a_wrong_job_is_a_clear_error_and_nothing_of_it_is_kept(
    given: Given, keywords: dict[str, Any], error: type[OnebeatError], field: str
) -> None:
    """J-ADD, J-TIME, J-API: the field is named, and nothing is half-registered."""
    scheduler = given.scheduler()
    arguments: dict[str, Any] = {"job_id": "a", "schedule": every(60), "work": work} | keywords
    with pytest.raises(error, match=field):
        scheduler.add(**arguments)
    assert scheduler.jobs == ()


def test_an_id_registered_twice_is_refused_and_the_first_job_stays(given: Given) -> None:
    """J-ADD: JobExists."""
    scheduler = given.scheduler()
    scheduler.add("a", every(60), work)
    with pytest.raises(JobExists, match="'a'"):
        scheduler.add("a", every(30), work)
    [job] = scheduler.jobs
    assert job.schedule == every(60)


def test_timeout_none_needs_a_lease_or_overlap_or_no_claim(given: Given) -> None:
    """C-LEASE: on a store without a heartbeat nothing else would bound the claim of a replica that died."""
    scheduler = given.scheduler(ClaimsAlone(given.store), timeout=None)
    with pytest.raises(InvalidJob, match="lease="):
        scheduler.add("a", every(60), work)
    scheduler.add("leased", every(60), work, lease=90)
    scheduler.add("overlaps", every(60), work, overlap="allow")
    scheduler.add("everywhere", every(60), work, on_every_replica=True)
    assert len(scheduler.jobs) == 3


def test_without_a_timeout_a_heartbeat_is_bound_enough(given: Given) -> None:
    """C-LEASE: where a death is told by the heartbeat, timeout=None needs no lease."""
    for scheduler in (given.scheduler(), given.scheduler(given.store)):
        scheduler.add("a", every(60), work, timeout=None)
        assert [job.policy.claim_lease for job in scheduler.jobs] == [timedelta(days=36_500)]


def test_the_lease_is_the_timeout_and_a_margin_capped_against_overflow(given: Given) -> None:
    """C-LEASE: lease = job timeout + lease_margin; sums never overflow."""
    scheduler = given.scheduler(lease_margin=5)
    scheduler.add("a", every(60), work, timeout=30)
    scheduler.add("b", every(60), work, timeout=30, lease_margin=1)
    scheduler.add("c", every(60), work, lease=7)
    scheduler.add("d", every(60), work, timeout=1e300, lease_margin=timedelta.max)
    leases = [job.policy.claim_lease for job in scheduler.jobs]
    assert leases[:3] == [timedelta(seconds=35), timedelta(seconds=31), timedelta(seconds=7)]
    assert leases[3] == timedelta(days=36_500)


def test_decorators_return_the_function_and_need_no_loop(given: Given) -> None:
    """J-API: unchanged; the id is module.qualname unless given."""
    scheduler = given.scheduler()
    assert scheduler.job("@daily")(work) is work
    assert scheduler.cron("*/5 * * * *", tz="Europe/Berlin", late=60)(async_work) is async_work
    assert scheduler.every(minutes=5, job_id="every")(work) is work
    assert scheduler.hourly(0, 30, job_id="hourly")(work) is work
    assert scheduler.daily(6, 30, tz="Asia/Tokyo", job_id="daily")(work) is work
    assert scheduler.job(every(60))(Place.method) is Place.method
    ids = [job.id for job in scheduler.jobs]
    own = __name__
    assert ids == [f"{own}.work", f"{own}.async_work", "every", "hourly", "daily", f"{own}.Place.method"]
    assert scheduler.jobs[1].schedule == cron("*/5 * * * *", tz="Europe/Berlin")
    assert scheduler.jobs[1].policy.late == timedelta(minutes=1)


def test_what_has_no_name_of_its_own_must_be_given_an_id(given: Given) -> None:
    """J-API: lambdas, local functions, objects."""
    scheduler = given.scheduler()

    def local() -> None: ...

    for nameless in (lambda: None, local, functools.partial(work)):
        with pytest.raises(InvalidJob, match="job_id="):
            scheduler.every(60)(nameless)
    assert scheduler.jobs == ()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"app": ""}, "app"),
        ({"replica": "a\nb"}, "replica"),
        ({"claim_timeout": 0}, "claim_timeout"),
        ({"shutdown_timeout": -1}, "shutdown_timeout"),
        ({"retention": float("nan")}, "retention"),
        ({"threads": 0}, "threads"),
        ({"limits": [3]}, "limits"),
        ({"store": "mongodb://x"}, "store"),
        ({"store": 7}, "store"),
    ],
)
def test_a_wrong_setting_is_a_clear_error(settings: dict[str, Any], field: str) -> None:
    """J-TIME: refused at construction."""
    with pytest.raises(InvalidSetting, match=field):
        Scheduler(**settings)


async def test_the_label_is_the_setting_else_the_environments_else_the_hosts_name(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-ID: it is shown, and decides nothing."""
    monkeypatch.setattr("socket.gethostname", lambda: "host")
    monkeypatch.delenv("ONEBEAT_REPLICA", raising=False)
    async with given.scheduler():
        monkeypatch.setenv("ONEBEAT_REPLICA", "pod-3")
        async with given.scheduler(), given.scheduler(replica="named"):
            pass
    assert [event.replica.label for event in given.recorder.of(SchedulerStarted)] == [
        "host",
        "pod-3",
        "named",
    ]


@pytest.mark.parametrize("nothing", [None, ""])
async def test_no_store_is_no_store(given: Given, nothing: Any) -> None:
    """C-EVERY-REPLICA: an unset DATABASE_URL gives none, and no file."""
    async with given.scheduler(nothing):
        pass
    [started] = given.recorder.of(SchedulerStarted)
    assert started.store is None


async def test_a_job_added_while_the_scheduler_starts_is_not_lost(given: Given) -> None:
    """J-ADD: registered is registered, from whatever thread or observer, and removed is removed."""

    def at_the_start(event: Event) -> None:
        if isinstance(event, SchedulerStarted):
            scheduler.add("late", every(10), lambda: None)
            scheduler.remove("early")

    at_the_start.inline = True  # type: ignore[attr-defined]
    scheduler = Scheduler(clock=given.clock, observers=[at_the_start, given.recorder])
    scheduler.add("early", every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=30)
    assert {event.tick.job_id for event in given.recorder.ended()} == {"late"}
    assert len(given.recorder.ran("late")) == 3


def test_after_its_end_a_scheduler_may_still_be_told_things(given: Given) -> None:
    """J-VERBS: none of it raises for a loop that is closed."""
    scheduler = given.scheduler()

    async def serve() -> None:
        async with scheduler:
            pass

    asyncio.run(serve())
    scheduler.stop()
    scheduler.add("a", every(10), lambda: None)
    assert scheduler.remove("a")
    assert not scheduler.run_once("a", lambda: None)


def test_a_signal_handler_may_stop_a_scheduler_whose_thread_is_telling_it_something(given: Given) -> None:
    """X-STOP: the handler runs in that thread, in the middle of anything."""
    scheduler = given.scheduler()
    stopped = threading.Event()

    def told_and_interrupted() -> None:
        with scheduler._serving().session._posting._lock:
            scheduler.stop()
        stopped.set()

    threading.Thread(target=told_and_interrupted, daemon=True).start()
    assert stopped.wait(5)


@pytest.mark.parametrize("field", ["limits", "alarms", "observers"])
def test_one_where_a_list_is_expected_is_a_clear_error(field: str) -> None:
    """J-ADD: it names the setting, and is not Python's own about something that cannot be iterated."""
    one: Any = object()
    with pytest.raises(InvalidSetting, match=f"^{field}: expected a list"):
        Scheduler(**{field: one})


def test_a_duration_beyond_any_float_is_capped(given: Given) -> None:
    """J-TIME: like any other sum that is too large."""
    scheduler = given.scheduler(timeout=10**400)
    scheduler.add("job", "@daily", work, lease=10**400)
    assert len(scheduler.jobs) == 1


@pytest.mark.parametrize("verb", ["run_once", "run_next", "supersede"])
def test_what_is_no_token_cancels_nothing_and_admits_nothing(given: Given, verb: str) -> None:
    """J-VERBS: `cancel` is a CancelToken."""
    scheduler = given.scheduler()
    wrong: Any = threading.Event()
    with pytest.raises(InvalidJob, match=r"^cancel: expected a CancelToken"):
        getattr(scheduler, verb)("job", work, cancel=wrong)
    assert scheduler.active == 0


@pytest.mark.parametrize("instant", [None, 0, "2026-01-01"])
def test_a_tick_is_of_an_instant(instant: Any) -> None:
    """S-NEXT: anything else is an error that says so."""
    with pytest.raises(InvalidJob, match=r"^scheduled_at: expected a timezone-aware datetime"):
        Tick("job", instant)
