"""What the pages read together, and before anybody asks."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta

import httpx
import pytest

from onebeat.control import Target
from onebeat.errors import ClaimFailed
from onebeat.model import Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import dashboard, job_reading, reading
from onebeat.web.reading import Reader
from tests.rows import NOON
from tests.web.fleet_rows import APP, join, run


class Counted(MemoryStore):
    """Counts how often all jobs were read; `broken` and `stuck` are what becomes of it."""

    def __init__(self) -> None:
        super().__init__(clock=FakeClock(NOON))
        self.reads = 0
        self.broken = self.stuck = False

    async def store_time(self):  # type: ignore[no-untyped-def] # as the store has it
        self.reads += 1
        if self.broken:
            raise ClaimFailed("no server")
        if self.stuck:
            await asyncio.Event().wait()
        return await super().store_time()


async def test_what_runs_for_long_and_what_began_now_are_told_once_each() -> None:
    store = MemoryStore(clock=FakeClock(NOON))
    await join(store, "web-1", {"report": "every(minutes=1)"})
    ticks = [Tick("report", NOON - timedelta(minutes=ago)) for ago in (300, 11, 9, 0)]
    for tick in ticks:
        await run(store, "web-1", tick, None, lease=None)
    fleet = (await Reader(store, APP).overall()).fleet
    assert sorted(each.tick for each in fleet.running) == ticks


async def test_the_first_who_looks_finds_it_read() -> None:
    """The server's start reads what the first page needs."""
    store = Counted()
    app = dashboard(store, app=APP)
    async with app.router.lifespan_context(app):
        assert store.reads == 1
        await app.state.reader.overall()
    assert store.reads == 1


async def test_a_store_that_cannot_answer_holds_up_no_start(caplog: pytest.LogCaptureFixture) -> None:
    store = Counted()
    store.broken = True
    app = dashboard(store, app=APP)
    async with app.router.lifespan_context(app):
        assert store.reads == 1
    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]


async def test_a_store_that_does_not_answer_holds_up_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_WARMING", 0)
    store = Counted()
    store.stuck = True
    app = dashboard(store, app=APP)
    async with app.router.lifespan_context(app):
        pass


async def test_all_who_watch_a_job_share_a_reading_and_who_loads_its_page_has_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_reading, "A_GLANCE", 600.0)
    store = Counted()
    await join(store, "web-1", {"report": "every(minutes=1)", "other": "every(minutes=1)"})
    app = dashboard(store, app=APP, streaming=False)
    store.reads = 0
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://dashboard") as client:

        async def reads(path: str) -> int:
            before = store.reads
            answers = await asyncio.gather(*(client.get(path) for _ in range(20)))
            assert {answer.status_code for answer in answers} == {200}
            return store.reads - before

        assert await reads("/live/job?id=report") == 1
        assert await reads("/live/job?id=report&over=1h") == 1
        assert await reads("/live/job?id=other") == 1
        assert await reads("/live/job?id=report") == 0
        await store.pause(
            Target(job_id="report"), until=NOON + timedelta(hours=1), by="ada", reason="why", app=APP
        )
        assert "ada" in (await client.get("/job?id=report")).text
        assert "ada" in (await client.get("/live/job?id=report")).text
