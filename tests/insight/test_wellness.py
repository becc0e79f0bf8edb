"""Whether a fleet is well."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from onebeat.fleet import Facts, Registration
from onebeat.history import ReplicaState
from onebeat.insight.wellness import SILENCE, Fleet, fleet_of
from onebeat.model import Bid, Release, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from tests.rows import HOUR, NOON, job

APP = "default"
WEB_1 = Replica(APP, "id-1", "web-1")


def test_a_fleet_is_well_until_somebody_fails_or_nobody_lives() -> None:
    living = ReplicaState("id", "web-1", "1", "2026a", 1, NOON, NOON, NOON, None, 0.0, {})
    assert Fleet(NOON, (living,), (job(),), ()).troubles == []
    worst = [job(failures=1), job(job_id="worse", failures=3)]
    fleet = Fleet(NOON, (living,), tuple(worst), ())
    assert [one.job_id for one in fleet.failing] == ["worse", "report"]
    assert fleet.troubles == ["2 of 2 jobs fail"]
    assert Fleet(NOON, (), (), ()).troubles == ["no replica lives"]


def test_silence_is_no_death_and_is_told() -> None:
    living = ReplicaState("id", "web-1", "1", "2026a", 1, NOON, NOON, NOON, None, 0.0, {})
    silent = replace(living, id="id-2", label="web-2", beat_at=NOON - 2 * SILENCE)
    fleet = Fleet(NOON, (living, silent), (job(),), ())
    assert [one.label for one in fleet.living] == ["web-1"]
    assert fleet.silent == [silent]


async def test_what_runs_is_looked_for_as_far_back_as_something_may_hold_its_job() -> None:
    """F-VERDICT: what overlaps may have begun within a day; what holds its job, ever since its watermark."""
    clock = FakeClock(NOON)
    store: Any = MemoryStore(clock=clock)
    for job_id, days, lease in (("held", 3, timedelta(days=9)), ("loose", 3, None), ("fresh", 0.5, None)):
        tick = Tick(job_id, NOON - timedelta(days=days))
        await store.claim([Bid(tick, job_id, lease)], replica=WEB_1, timeout=HOUR)
    fleet = await fleet_of(store, APP)
    assert [row.tick.job_id for row in fleet.running] == ["fresh", "loose", "held"]
    await store.release([Release(Tick("held", NOON - timedelta(days=3)), "held", Verdict.RAN)], replica=WEB_1)
    fleet = await fleet_of(store, APP)
    assert [row.tick.job_id for row in fleet.running] == ["fresh"]


async def test_all_jobs_of_a_fleet_are_looked_at_however_many() -> None:
    store: Any = MemoryStore(clock=FakeClock())
    registrations = [Registration(f"job {number}", "0 * * * *", "digest") for number in range(1_001)]
    now = await store.store_time()
    await store.join(registrations, replica=WEB_1, facts=Facts("1", "2026a", 1), now=now)
    assert len((await fleet_of(store, APP)).jobs) == 1_001


def test_the_latest_dead_come_first_and_failing_jobs_are_not_called_untried() -> None:
    living = ReplicaState("id", "web-1", "1", "2026a", 1, NOON, NOON, NOON, None, 0.0, {})
    dead = [replace(living, label=f"dead {n}", dead_at=NOON - n * HOUR) for n in (2, 1, 3)]
    fleet = Fleet(NOON, tuple(dead), (job(last_success_at=None, failures=1),), ())
    assert [one.label for one in fleet.dead] == ["dead 1", "dead 2", "dead 3"]
    assert fleet.untried == []
