"""The page of all jobs, over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from starlette.requests import Request

from onebeat.control import Target
from onebeat.model import Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import dashboard
from onebeat.web.pages import overview
from onebeat.web.views.overview_pick import ROWS
from tests.rows import NOON
from tests.web.fleet_rows import APP, HOSTILE, HOSTILE_AS_SHOWN, join, run, visitor

MINUTE = timedelta(minutes=1)
MINUTELY = "every(minutes=1)"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOON)


@pytest.fixture
def store(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock=clock)


async def asked(store: MemoryStore, query: str = "", **settings: Any) -> str:
    async with visitor(store, **settings) as client:
        answer = await client.get(f"/{query}")
        assert answer.status_code == 200, answer.text
        return str(answer.text)


def named(page: str) -> list[str]:
    """The jobs of the table, as they are shown."""
    return re.findall(r'<th scope="row"><a [^>]*><bdi>(.*?)</bdi>', page)


async def test_an_app_without_jobs_says_that_nothing_lives(store: MemoryStore) -> None:
    page = await asked(store)
    assert "The fleet is not well: <bdi>no replica lives</bdi>." in page
    assert "No replica has registered a job of this app." in page


async def test_a_row_tells_all_of_its_job(store: MemoryStore, clock: FakeClock) -> None:
    await join(store, "web-1", {"report": "cron('*/5 * * * *', tz='Europe/Berlin')"})
    for verdict in (Verdict.RAN, Verdict.FAILED):
        clock.step(MINUTE)
        await run(store, "web-1", Tick("report", clock.now()), verdict)
    page = await asked(store)
    assert named(page) == ["report"]
    assert "Every 5 minutes" in page
    assert "<small>Europe/Berlin</small>" in page
    assert '<time datetime="2027-03-01T12:05:00+00:00">12:05:00</time>' in page
    assert 'data-until="2027-03-01T12:05:00+00:00"' in page
    assert "<title>1 ran, 1 failed. The newest: failed</title>" in page
    assert '<span class="failed">1</span>' in page
    assert "The fleet is not well: <bdi>1 of 1 jobs fail</bdi>." in page


async def test_a_fleet_that_is_well_says_so(store: MemoryStore) -> None:
    await join(store, "web-1", {"report": MINUTELY, "sync": MINUTELY})
    await run(store, "web-1", Tick("sync", NOON), None)
    page = await asked(store)
    assert "The fleet is well." in page
    assert "1 running" in page
    assert named(await asked(store, "?state=running")) == ["sync"]


async def test_a_paused_job_says_until_when_and_counts_down_to_the_first_after(store: MemoryStore) -> None:
    await join(store, "web-1", {"report": MINUTELY})
    await store.pause(
        Target(job_id="report"), app=APP, until=NOON + 5 * MINUTE, by="ann", reason="a migration"
    )
    page = await asked(store)
    assert "paused until 2027-03-01 12:05:00 UTC" in page
    assert 'data-until="2027-03-01T12:05:00+00:00"' in page
    assert named(await asked(store, "?state=paused")) == ["report"]


async def test_pages_lead_to_each_other_and_keep_what_was_asked(store: MemoryStore) -> None:
    await join(store, "web-1", {f"job {number:03}": MINUTELY for number in range(120)})
    first = await asked(store, "?search=job&sort=next")
    assert len(named(first)) == ROWS
    assert "1 to 50 of 120 jobs" in first
    assert 'href="/?search=job&amp;sort=next&amp;page=2"' in first
    third = await asked(store, "?page=3")
    assert named(third) == [f"job {number:03}" for number in range(100, 120)]
    assert 'rel="next"' not in third
    assert 'data-live="/live/overview?page=3"' in third
    assert named(await asked(store, "?page=99")) == named(third)


async def test_hostile_ids_are_text_and_lead_to_their_pages(store: MemoryStore) -> None:
    await join(store, "web-1", {HOSTILE: MINUTELY})
    async with visitor(store) as client:
        page = (await client.get("/", params={"search": HOSTILE, "prefix": HOSTILE[:3]})).text
        assert "<script>alert" not in page
        assert "\u202e" not in "".join(named(page))
        assert named(page) == [HOSTILE_AS_SHOWN]
        [address] = re.findall(r'<th scope="row"><a href="([^"]*)"', page)
        assert (await client.get(address.replace("&amp;", "&"))).status_code == 200


async def test_a_page_of_fifty_jobs_with_fifty_ticks_each_is_small() -> None:
    clock = FakeClock(NOON)
    store = MemoryStore(clock=clock)
    jobs = [f"team {number % 7}/a job with some name {number:03}" for number in range(ROWS)]
    await join(store, "web-1", dict.fromkeys(jobs, "cron('30 2 * * *', tz='Europe/Berlin')"))
    for minute in range(50):
        clock.step(MINUTE)
        verdict = Verdict.FAILED if minute % 2 else Verdict.RAN  # what takes the most to draw
        for job_id in jobs:
            await run(store, "web-1", Tick(job_id, clock.now()), verdict)
    async with visitor(store) as client:
        page = (await client.get("/")).text
        linked = set(re.findall(r'<(?:link rel="stylesheet" href|script src)="([^"]+)"', page))
        assert len(linked) == 3
        assets = [(await client.get(path)).content for path in linked]
    assert len(page.encode()) + sum(map(len, assets)) < 120_000


async def test_the_store_is_asked_once_for_all_who_look(store: MemoryStore) -> None:
    await join(store, "web-1", {"report": MINUTELY})
    asked_for: list[str] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            if name in ("jobs", "marks", "replicas"):
                asked_for.append(name)
            return getattr(store, name)

    app = dashboard(Counting(), app=APP)
    asked_for.clear()
    reader = app.state.reader
    for _ in range(3):
        overall = await reader.overall()
        await reader.marks(["report"])
    assert [job.job_id for job in overall.fleet.jobs] == ["report"]
    assert sorted(asked_for) == ["jobs", "marks", "replicas"]


async def test_what_moves_stands_on_the_page_as_it_is_sent(store: MemoryStore) -> None:
    await join(store, "web-1", {"report": MINUTELY, HOSTILE: MINUTELY})
    app = dashboard(store, app=APP)
    page = await asked(store)
    scope = {"type": "http", "path": "/", "query_string": b"", "headers": [], "app": app, "root_path": ""}
    parts = await overview.fragments(Request(scope))
    assert len(parts) == ROWS + 2
    for element, html in parts.items():
        assert f'id="{element}"' in html
        assert html.strip() in page, element
    assert "hidden" in parts[f"row-{ROWS - 1}"]
