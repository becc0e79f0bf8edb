"""The fleet page: the view of replicas and runs, and the page over HTTP."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from onebeat.doctor import Finding, Level
from onebeat.drift import TOLERATED_SPAN
from onebeat.model import Tick, Wanted
from onebeat.stores.memory import MemoryStore
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.testing import FakeClock
from onebeat.web import dashboard
from onebeat.web.pages import fleet as fleet_page
from onebeat.web.views.fleet import fleet_view, level_badge, worst
from tests.rows import NOON, replica, tick
from tests.web.fleet_rows import APP, HOSTILE, HOSTILE_AS_SHOWN, join, known, run, visitor


def test_each_replica_says_whether_it_lives() -> None:
    long_ago = NOON - timedelta(minutes=10)
    view = fleet_view(
        [
            replica("living", skew=-2.5),
            replica("silent", beat_at=long_ago, skew=-0.001),
            replica("dead", beat_at=long_ago, dead_at=long_ago + timedelta(minutes=1)),
            replica("left", beat_at=long_ago, dead_at=long_ago),
        ],
        [],
        NOON,
    )
    assert [row.state.word for row in view.rows] == ["living", "silent", "dead", "left"]
    assert view.told == "1 living, 1 silent, 1 dead, 1 left"
    assert [row.skewed for row in view.rows] == [True, False, False, False]
    assert view.rows[1].skew == "+0.00 s"
    assert (view.rows[0].skew, view.rows[1].heard) == ("-2.50 s", "10 min 0 s ago")
    assert len({row.state.sign for row in view.rows}) == 4


def test_what_runs_stands_with_its_replica_and_the_longest_first() -> None:
    young = tick("young", NOON - timedelta(seconds=5))
    old = tick("old", NOON - timedelta(hours=1), wanted=Wanted.CANCEL)
    elsewhere = tick("elsewhere", NOON - timedelta(minutes=1), replica_id="id-of-b", replica="b")
    view = fleet_view([replica("a"), replica("b"), replica("c")], [young, elsewhere, old], NOON)
    assert [row.record.tick.job_id for row in view.running] == ["old", "elsewhere", "young"]
    assert [(row.held, row.cancelled) for row in view.running] == [
        ("1 h 0 min", True), ("1 min 0 s", False), ("5.0 s", False),
    ]  # fmt: skip
    told = [[record.tick.job_id for record in row.running] for row in view.rows]
    assert told == [["old", "young"], ["elsewhere"], []]


def test_what_replicas_disagree_about_is_told_by_side() -> None:
    """F-DRIFT"""
    start = NOON - TOLERATED_SPAN
    view = fleet_view(
        [
            replica("a", started_at=start, jobs={"report": "x"}),
            replica("b", started_at=start, jobs={"report": "y"}),
        ],
        [],
        NOON,
    )
    [(about, one)] = view.drift
    assert (about, one.job_id, one.sides) == ("Schedule", "report", (("x", ("a",)), ("y", ("b",))))


def test_the_worst_finding_is_the_state_of_the_store() -> None:
    ok, warning, error = (Finding(level, "clock", "found") for level in Level)
    assert worst([]) is worst([ok]) is Level.OK
    assert worst([ok, error, warning]) is Level.ERROR
    assert worst([warning, ok]) is Level.WARNING
    assert len({level_badge(level).sign for level in Level}) == 3


async def test_an_empty_store_has_no_fleet() -> None:
    async with visitor(MemoryStore()) as client:
        answer = await client.get("/fleet")
    assert answer.status_code == 200
    assert "No replica lives, and none died within a day." in answer.text


async def filled(store: Any) -> None:
    await join(store, HOSTILE, {HOSTILE: "every(minutes=1)"}, version=HOSTILE)
    await join(store, "calm", {})
    await run(store, HOSTILE, Tick(HOSTILE, (await store.store_time()).replace(microsecond=0)), None)
    await join(store, "gone", {})
    await store.leave(replica=known("gone"))


def shows(page: str) -> None:
    assert HOSTILE not in page
    assert "‮" not in page
    assert page.count(f"<bdi>{HOSTILE_AS_SHOWN}</bdi>") >= 5  # label, version, runs now, running now, on
    assert "2 living, 1 left" in page
    assert "1 tick runs now" in page
    assert "pid 4711" in page
    assert "<script>alert" not in page


async def test_the_page_shows_replicas_runs_and_the_store() -> None:
    store = MemoryStore()
    await filled(store)
    async with visitor(store) as client:
        answer = await client.get("/fleet")
    assert answer.status_code == 200
    shows(answer.text)
    assert "2 living replicas agree" in answer.text


async def test_on_sqlite_the_file_is_looked_at(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "jobs.db"))
    await filled(store)
    async with visitor(store) as client:
        page = (await client.get("/fleet")).text
    await store.close()
    shows(page)
    assert "bytes, sound" in page


async def test_on_postgresql_the_server_is_looked_at(database: str) -> None:
    store = PostgresStore(database)
    await filled(store)
    async with visitor(store) as client:
        page = (await client.get("/fleet")).text
        assert (await client.get("/audit")).status_code == 200
    await store.close()
    shows(page)
    assert "fsync is off" in page
    assert '<span class="failed"><span aria-hidden="true">✕</span> error</span>' in page


class Slow(MemoryStore):
    """Counts how often it is examined."""

    examined = 0

    async def fleet_health(self, app: str) -> Any:
        self.examined += 1
        return await super().fleet_health(app)


async def test_the_doctor_is_asked_once_a_minute_whoever_looks() -> None:
    store = Slow()
    async with visitor(store) as client:
        for _ in range(3):
            await client.get("/fleet")
    assert store.examined == 1


class Plain(MemoryStore):
    fleet_health = None  # type: ignore[assignment]


@pytest.mark.parametrize("path", ["/fleet", "/calendar", "/audit"])
async def test_a_store_that_no_doctor_knows_has_pages_too(path: str) -> None:
    async with visitor(Plain()) as client:
        assert (await client.get(path)).status_code == 200


async def test_each_part_of_the_page_can_be_replaced_by_itself() -> None:
    """Each begins with the element of its id, and stands in the page as it is."""
    store = MemoryStore(clock=FakeClock(NOON))
    await filled(store)
    app = dashboard(store, app=APP)
    request = Request({"type": "http", "app": app, "path": "/fleet", "headers": [], "query_string": b""})
    parts = await fleet_page.fragments(request)
    page = bytes((await fleet_page.page(request)).body).decode()
    assert set(parts) == {
        "fleet-state", "fleet-replicas", "fleet-running", "fleet-drift", "fleet-health",
    }  # fmt: skip
    for element, html in parts.items():
        assert html.strip() in page
        assert html.strip().split(">")[0].split()[1] == f'id="{element}"'
        assert html.count(f'id="{element}"') == 1


async def test_a_thousand_runs_make_a_page_of_bounded_size() -> None:
    store = MemoryStore(clock=FakeClock(NOON))
    jobs = [f"job {number:04} with a name that is not short" for number in range(1_000)]
    await join(store, "a", dict.fromkeys(jobs, "every(hours=1)"))
    for job_id in jobs:
        await run(store, "a", Tick(job_id, NOON), None)
    async with visitor(store) as client:
        page = (await client.get("/fleet")).text
    assert "1,000 ticks or more run now" in page
    assert "The longest 50 of 1,000 runs or more." in page
    assert "and 995 more" in page
    assert len(page) < 60_000
