"""The audit, page by page."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

from onebeat.control import Target
from onebeat.history import END_OF_TIME
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from tests.rows import NOON
from tests.web.fleet_rows import APP, HOSTILE, HOSTILE_AS_SHOWN, visitor


async def test_an_empty_audit_says_so() -> None:
    async with visitor(MemoryStore()) as client:
        assert "Nobody has asked anything of this fleet yet." in (await client.get("/audit")).text


async def test_every_request_is_on_exactly_one_page_the_newest_first() -> None:
    clock = FakeClock(NOON)
    store = MemoryStore(clock=clock)
    for number in range(120):
        await clock.jump(seconds=1)
        await store.pause(Target.app(), app=APP, by="ada", reason=f"reason-{number:03}", until=None)
    seen: list[str] = []
    path: str | None = "/audit"
    async with visitor(store) as client:
        while path:
            page = (await client.get(path)).text
            seen += re.findall(r"reason-\d{3}", page)
            older = re.search(r'<a href="([^"]+)" rel="next">', page)
            path = unescape(older[1]) if older else None
    assert seen == [f"reason-{number:03}" for number in reversed(range(120))]


async def test_who_asks_and_why_is_anybodys_text() -> None:
    store = MemoryStore(clock=FakeClock(NOON))
    target = Target(job_id=HOSTILE)
    await store.pause(target, app=APP, by=HOSTILE, reason=HOSTILE, until=NOON + timedelta(hours=1))
    await store.pause(Target(prefix="mail."), app=APP, by="ada", reason="moving", until=END_OF_TIME)
    async with visitor(store, tz="Asia/Tokyo") as client:
        answer = await client.get("/audit")
    assert answer.status_code == 200
    assert HOSTILE not in answer.text
    assert answer.text.count(HOSTILE_AS_SHOWN) == 3
    assert "2027-03-01 22:00:00 JST" in answer.text
    assert "jobs mail.…" in answer.text


async def test_a_cursor_of_nobodys_is_refused_by_its_name() -> None:
    async with visitor(MemoryStore()) as client:
        answer = await client.get("/audit", params={"after": "x"})
    assert answer.status_code == 400
    assert "after" in answer.text
