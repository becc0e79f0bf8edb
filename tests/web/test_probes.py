"""What machines ask of a dashboard, and of a worker that shows no pages."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from onebeat.errors import ClaimFailed, InvalidJob, InvalidSetting
from onebeat.insight.wellness import Fleet
from onebeat.model import Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import health, probes
from onebeat.web.views.metrics import fleet_gauges, job_gauges, metrics_text
from tests.rows import NOON, job, replica, tick
from tests.web.fleet_rows import APP, HOSTILE, join, run, visitor

# A line of Prometheus' text format.
SAMPLE = re.compile(
    r'^[a-z_]+\{([a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\} (-?\d+(\.\d+)?(e[+-]?\d+)?)$', re.MULTILINE
)


def prober(store: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(health(store, app=APP)), base_url="http://worker")


class Deaf(MemoryStore):
    """Answers nobody who asks how it is."""

    how = "fails"

    async def store_time(self) -> Any:
        if self.how == "fails":
            raise ClaimFailed("gone")
        await asyncio.Event().wait()


@pytest.mark.parametrize("client", [prober, lambda store: visitor(store)])
async def test_a_worker_says_that_it_is_up_whether_the_store_answers_and_who_lives(client: Any) -> None:
    store = MemoryStore()
    await join(store, "a", {"x": "every(60)"})
    async with client(store) as asking:
        assert (await asking.get("/healthz")).text == "up\n"
        ready = await asking.get("/readyz")
        assert (ready.status_code, ready.json()) == (200, {"store": "answers", "living": 1})
        numbers = await asking.get("/metrics")
    assert numbers.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert f'onebeat_replicas{{app="{APP}",state="living"}} 1\n' in numbers.text


@pytest.mark.parametrize("how", ["fails", "hangs"])
async def test_a_store_that_does_not_answer_is_told_within_a_while(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PATIENCE", 0.01)
    monkeypatch.setattr(probes, "METRICS_PATIENCE", 0.01)
    store = Deaf()
    store.how = how
    async with prober(store) as asking:
        assert (await asking.get("/healthz")).status_code == 200
        ready = await asking.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"store": "does not answer"})
        numbers = (await asking.get("/metrics")).text
    assert re.findall("^onebeat.*", numbers, re.MULTILINE) == [f'onebeat_store_up{{app="{APP}"}} 0']


async def test_a_worker_shows_no_pages() -> None:
    async with prober(MemoryStore()) as asking:
        for path in ("/", "/fleet", "/act/pause", "/login"):
            assert (await asking.get(path)).status_code == 404


async def test_numbers_are_those_of_the_store() -> None:
    clock = FakeClock(NOON)
    store = MemoryStore(clock=clock)
    await join(store, "a", {"good": "every(60)", "bad": "every(60)"})
    for minute in range(3):
        at = NOON + timedelta(minutes=minute)
        await run(store, "a", Tick("good", at), Verdict.RAN)
        await run(store, "a", Tick("bad", at), Verdict.FAILED)
        await clock.jump(seconds=60)
    async with prober(store) as asking:
        told = (await asking.get("/metrics")).text
        short = (await asking.get("/metrics", params={"jobs": "no"})).text
    for line in (
        f'onebeat_store_up{{app="{APP}"}} 1',
        f'onebeat_jobs{{app="{APP}"}} 2',
        f'onebeat_jobs_failing{{app="{APP}"}} 1',
        f'onebeat_ticks_last_hour{{app="{APP}",verdict="ran"}} 3',
        f'onebeat_ticks_last_hour{{app="{APP}",verdict="missed"}} 0',
        f'onebeat_job_failures{{app="{APP}",job_name="bad"}} 3',
        f'onebeat_job_failures{{app="{APP}",job_name="good"}} 0',
    ):
        assert line in told.splitlines()
    success = NOON + timedelta(minutes=2)
    name = f'onebeat_job_last_success_timestamp_seconds{{app="{APP}",job_name="good"}}'
    assert f"{name} {success.timestamp()}" in told.splitlines()
    assert 'last_success_timestamp_seconds{app="shop",job_name="bad"}' not in told
    assert "job_name" not in short
    assert "onebeat_jobs_failing" in short


async def test_many_who_ask_cost_the_store_one_reading() -> None:
    class Counted(MemoryStore):
        readings = 0

        async def counts(self, **bounds: Any) -> Any:
            self.readings += 1
            return await super().counts(**bounds)

    store = Counted()
    async with prober(store) as asking:
        await asyncio.gather(*(asking.get("/metrics") for _ in range(20)))
    assert store.readings == 1


def test_a_hostile_id_stays_in_its_label() -> None:
    """Whatever ids hold, a line is a sample."""
    ids = (HOSTILE, 'a"} 7\nonebeat_jobs 9', "back\\slash\\", "\\n", "new\nline", '"')
    fleet = Fleet(NOON, (), tuple(job(name, last_success_at=NOON) for name in ids), ())
    lines = metrics_text(job_gauges(fleet, APP)).splitlines()
    samples = [line for line in lines if not line.startswith("# ")]
    assert len(samples) == 3 * len(ids)
    assert all(SAMPLE.fullmatch(line) for line in samples)
    assert 'onebeat_job_failures{app="shop",job_name="a\\"} 7\\nonebeat_jobs 9"} 0' in samples


def test_the_living_the_silent_and_the_clock_furthest_off_are_told() -> None:
    fleet = Fleet(
        NOON,
        (
            replica("a", skew=-2.5),
            replica("b", skew=1.0),
            replica("c", beat_at=NOON - timedelta(hours=1), skew=9.0),
        ),
        (),
        (tick("x"),),
    )
    told = metrics_text(fleet_gauges(fleet, {}, APP)).splitlines()
    for line in (
        'onebeat_replicas{app="shop",state="living"} 2',
        'onebeat_replicas{app="shop",state="silent"} 1',
        'onebeat_clock_skew_seconds{app="shop"} 2.5',
        'onebeat_runs{app="shop"} 1',
    ):
        assert line in told


def test_a_probe_that_can_mean_nothing_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="store"):
        health(None)
    with pytest.raises(InvalidJob, match="app"):
        health(MemoryStore(), app="")
