"""Alarms of real schedulers on one store and one clock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any

import pytest

from onebeat import Alarm, Alert, Scheduler, every
from onebeat.alerts import deliveries, watch
from onebeat.control import Target
from onebeat.errors import ClaimFailed, InvalidSetting
from onebeat.events import AlarmCleared, AlarmRaised, AlarmsUnjudged, AlertUndelivered
from onebeat.stores.memory import MemoryStore
from tests.alerts.given import Pager
from tests.engine.given import Given


class Job:
    """A body that fails when told to."""

    def __init__(self) -> None:
        self.broken = False

    async def __call__(self) -> None:
        if self.broken:
            raise RuntimeError("broken")


def _fleet(given: Given, job: Job, alarms: Sequence[Alarm], size: int = 3) -> list[Scheduler]:
    replicas = [given.scheduler(given.store, alarms=alarms) for _ in range(size)]
    for replica in replicas:
        replica.add("report", every(60), job)
    return replicas


async def test_silence_is_told_once_by_the_whole_fleet_and_so_is_its_end() -> None:
    """F-SILENT: raised once, cleared once, whoever noticed."""
    given, job, pager = Given(), Job(), Pager()
    replicas = _fleet(given, job, [Alarm("report", silent_for=300, to=pager)])
    async with AsyncExitStack() as stack:
        for replica in replicas:
            await stack.enter_async_context(replica)
        await given.clock.advance(minutes=10)
        assert pager.heard == []
        job.broken = True
        await given.clock.advance(minutes=3)
        assert pager.heard == []
        await given.clock.advance(minutes=20)
        assert pager.heard == [("silent", True)]
        job.broken = False
        await given.clock.advance(minutes=5)
        assert pager.heard == [("silent", True), ("silent", False)]
        await given.clock.advance(minutes=20)
    assert len(pager.alerts) == 2
    raised, cleared = pager.alerts
    assert raised.key == cleared.key
    assert raised.text.startswith("report has not succeeded for 0:05:00 (last at ")
    assert raised.app == "default"
    assert len(given.recorder.of(AlarmRaised)) == len(given.recorder.of(AlarmCleared)) == 1


async def test_a_restart_of_the_fleet_raises_nothing_again() -> None:
    """F-SILENT: what sounds is remembered by the store; another replica clears it."""
    given, job, pager = Given(), Job(), Pager()
    alarms = [Alarm(prefix="rep", failures=2, to=pager)]
    job.broken = True
    async with AsyncExitStack() as stack:
        for replica in _fleet(given, job, alarms, 2):
            await stack.enter_async_context(replica)
        await given.clock.advance(minutes=5)
    assert pager.heard == [("failures", True)]
    async with AsyncExitStack() as stack:
        for replica in _fleet(given, job, alarms, 2):
            await stack.enter_async_context(replica)
        await given.clock.advance(minutes=5)
        assert pager.heard == [("failures", True)]
        job.broken = False
        await given.clock.advance(minutes=5)
    assert pager.heard == [("failures", True), ("failures", False)]


async def test_a_missed_tick_is_told_and_is_over_when_the_history_has_forgotten_it() -> None:
    """F-SILENT: a tick that no replica ran, while none lived."""
    given, job, pager = Given(), Job(), Pager()
    for hours in (0, 1):
        replicas = [
            given.scheduler(given.store, alarms=[Alarm("report", missed=True, to=pager)], retention=7200)
        ]
        replicas[0].add("report", every(600), job)
        await given.clock.jump(hours=hours)
        async with replicas[0]:
            await given.clock.advance(minutes=30)
            if hours:
                assert pager.heard == [("missed", True)]
                assert "was missed" in pager.alerts[0].text
                await given.clock.advance(hours=6)
    assert pager.heard == [("missed", True), ("missed", False)]


async def test_a_delivery_that_fails_touches_no_run_and_is_said() -> None:
    """F-SILENT: delivery failures never touch a run."""
    given, job = Given(), Job()

    async def broken_pager(alert: object) -> None:
        raise SystemExit("no network")

    job.broken = True
    replicas = _fleet(given, job, [Alarm("report", failures=1, to=broken_pager)], 1)
    async with replicas[0]:
        await given.clock.advance(minutes=5)
    (undelivered,) = given.recorder.of(AlertUndelivered)
    assert "broken_pager" in undelivered.to
    assert str(undelivered.error) == "no network"


async def test_a_function_that_never_returns_does_not_hold_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-SILENT, X-STOP: it is cancelled, as the loop may end then."""
    monkeypatch.setattr(deliveries, "LAST_SECONDS", 0)
    given, job = Given(), Job()
    cancelled: list[str] = []

    async def hang(alert: Alert) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(alert.job_id)
            raise

    job.broken = True
    (replica,) = _fleet(given, job, [Alarm("report", failures=1, to=hang)], 1)
    async with replica:
        await given.clock.advance(minutes=3)
        assert cancelled == []
    assert cancelled == ["report"]
    assert given.recorder.of(AlertUndelivered) == []


async def test_a_store_that_is_down_raises_nothing_and_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-SILENT: nothing is known then, so nothing is wrong; a raising whose answer was lost is told later."""
    given, job, pager = Given(), Job(), Pager()
    job.broken = True
    (replica,) = _fleet(given, job, [Alarm("report", failures=1, to=pager)], 1)

    async def down(*_: object, **__: object) -> Any:
        raise ClaimFailed("down")

    raise_alarm = MemoryStore.raise_alarm

    async def lost(self: MemoryStore, key: str, *, app: str) -> bool:
        await raise_alarm(self, key, app=app)
        raise ClaimFailed("its answer was lost")

    async with replica:
        with monkeypatch.context() as patch:
            patch.setattr(MemoryStore, "jobs", down)
            await given.clock.advance(minutes=10)
            assert pager.heard == []
            assert len(given.recorder.of(AlarmsUnjudged)) == 1
        with monkeypatch.context() as patch:
            patch.setattr(MemoryStore, "raise_alarm", lost)
            await given.clock.advance(seconds=65)
            assert pager.heard == []
        await given.clock.advance(minutes=5)
    assert pager.heard == [("failures", True)]


async def test_a_paused_job_is_not_judged_and_its_pause_not_held_against_it() -> None:
    """F-SILENT, F-PAUSE: silence that is wanted; after it the job has its whole time again."""
    given, job, pager = Given(), Job(), Pager()
    (replica,) = _fleet(given, job, [Alarm("report", silent_for=300, to=pager)], 1)
    asked = {"app": "default", "by": "test", "reason": "a test"}
    async with replica:
        await given.clock.advance(minutes=2)
        await given.store.pause(Target(job_id="report"), until=None, **asked)
        await given.clock.advance(minutes=20)
        assert pager.heard == []
        job.broken = True
        await given.store.resume(Target(job_id="report"), **asked)
        await given.clock.advance(minutes=4)
        assert pager.heard == []
        await given.clock.advance(minutes=4)
    assert pager.heard == [("silent", True)]


async def test_by_prefix_a_job_that_left_the_code_is_not_judged() -> None:
    """F-SILENT: it would sound for ever."""
    given, job, pager = Given(), Job(), Pager()
    alarms = [Alarm(prefix="", silent_for=300, to=pager)]
    (replica,) = _fleet(given, job, alarms, 1)
    async with replica:
        await given.clock.advance(minutes=2)
    async with given.scheduler(given.store, alarms=alarms):
        await given.clock.advance(minutes=20)
    assert pager.heard == []


async def test_all_is_well_costs_one_statement_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-SILENT: one replica asks once a minute, for jobs and for missed ticks in turn."""
    given, asked = Given(), []
    for name in ("jobs", "ticks", "sounding", "raise_alarm", "clear_alarm"):
        method = getattr(MemoryStore, name)

        async def counted(*args: Any, _name: str = name, _method: Any = method, **named: Any) -> Any:
            asked.append(_name)
            return await _method(*args, **named)

        monkeypatch.setattr(MemoryStore, name, counted)
    alarms = [Alarm("report", silent_for=300, failures=2, missed=True, to=Pager())]
    async with AsyncExitStack() as stack:
        for replica in _fleet(given, Job(), alarms):
            await stack.enter_async_context(replica)
        await given.clock.advance(minutes=5)
        asked.clear()
        await given.clock.advance(minutes=20)
    assert 18 <= len(asked) <= 20
    assert set(asked) == {"jobs", "ticks"}
    assert abs(asked.count("jobs") - asked.count("ticks")) <= 1


async def test_many_jobs_are_looked_at_some_at_a_time_and_many_alarms_raised_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-SILENT: no look costs more than so many statements, and none is left out."""
    monkeypatch.setattr(watch, "MOST_ROWS", 4)
    monkeypatch.setattr(watch, "MOST_CHANGES", 3)
    given, job, pager = Given(), Job(), Pager()
    job.broken = True
    replica = given.scheduler(given.store, alarms=[Alarm(prefix="job", failures=1, to=pager)])
    for n in range(10):
        replica.add(f"job-{n}", every(60), job)
    told: list[int] = []
    async with replica:
        for _ in range(12):
            await given.clock.advance(seconds=60)
            told.append(len(pager.alerts))
    assert max(later - earlier for earlier, later in pairwise(told)) == 3
    assert sorted(alert.job_id for alert in pager.alerts) == [f"job-{n}" for n in range(10)]


async def test_two_alarms_of_one_kind_are_one_that_tells_both() -> None:
    """F-SILENT: raised once, to each; another threshold is another alarm."""
    given, job, one, other = Given(), Job(), Pager(), Pager()
    job.broken = True
    alarms = [
        Alarm("report", failures=2, to=one),
        Alarm(prefix="re", failures=2, to=one),
        Alarm(prefix="", failures=2, to=other),
        Alarm("report", failures=4, to=other),
    ]
    (replica,) = _fleet(given, job, alarms, 1)
    async with replica:
        await given.clock.advance(minutes=10)
    assert [alert.key for alert in one.alerts] == ["failures:2:report"]
    assert [alert.key for alert in other.alerts] == ["failures:2:report", "failures:4:report"]


def test_alarms_that_are_judged_need_a_store_with_a_history() -> None:
    """F-SILENT: refused at construction, not silent for ever."""
    with pytest.raises(InvalidSetting, match="history"):
        Scheduler(alarms=[Alarm("report", silent_for=300, to=print)])
    with pytest.raises(InvalidSetting, match="alarms"):
        Scheduler(alarms=["report"])  # type: ignore[list-item]
