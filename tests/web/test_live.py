"""What moves on open pages: as events, and as a server sends them."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from onebeat.errors import ClaimFailed
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import dashboard
from onebeat.web.live import EVERY, LONGEST, NO_ANSWER, SILENCE, Stream, server_stops
from tests.web.fleet_rows import APP, join


class Page:
    """A page whose parts a test changes, and its stream."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.parts: dict[str, str] | None = {"a": "<p>1</p>", "b": "<p>2</p>"}
        self.stops = False
        self.looked = 0
        self.stream = Stream(self.look, self.clock, lambda: self.stops)

    async def look(self) -> Mapping[str, str]:
        self.looked += 1
        if self.parts is None:
            raise ClaimFailed("gone")
        return dict(self.parts)

    async def next(self, events: AsyncIterator[str]) -> str | None:
        """The next event, however long it takes; None at the end."""
        waiting = asyncio.ensure_future(anext(events, None))
        while not waiting.done():
            await self.clock.advance(seconds=0.5)
        return await waiting


def told(event: str | None) -> tuple[str, Any]:
    """Its name and data."""
    assert event is not None
    assert event.endswith("\n\n")
    lines = dict(line.split(": ", 1) for line in event.splitlines() if line)
    return lines["event"], json.loads(lines["data"])


@pytest.fixture
def page() -> Page:
    return Page()


async def test_all_is_sent_first_and_then_what_has_changed(page: Page) -> None:
    events = page.stream.events(page.parts)
    first = await page.next(events)
    assert first is not None
    assert first.startswith("retry: ")
    assert told(first) == ("parts", {"a": "<p>1</p>", "b": "<p>2</p>"})
    page.parts = {"a": "<p>1</p>", "b": "<p>3\n</p>"}
    assert told(await page.next(events)) == ("parts", {"b": "<p>3\n</p>"})


async def test_where_nothing_changes_a_comment_keeps_the_connection(page: Page) -> None:
    events = page.stream.events(page.parts)
    await page.next(events)
    began = page.clock.monotonic()
    assert await page.next(events) == ": still here\n\n"
    assert SILENCE <= page.clock.monotonic() - began < SILENCE + EVERY + 1


async def test_the_page_is_looked_at_every_few_seconds_only(page: Page) -> None:
    events = page.stream.events(page.parts)
    await page.next(events)
    page.looked = 0
    await page.next(events)
    assert page.looked == SILENCE // EVERY


async def test_trouble_is_told_once_and_its_end_though_nothing_has_changed(page: Page) -> None:
    parts = page.parts
    events = page.stream.events(parts)
    await page.next(events)
    page.parts = None
    assert told(await page.next(events)) == ("trouble", NO_ANSWER)
    assert await page.next(events) == ": still here\n\n"
    page.parts = parts
    assert told(await page.next(events)) == ("parts", {})


async def test_a_store_that_is_silent_at_first_is_told_and_waited_for(page: Page) -> None:
    events = page.stream.events(None)
    assert told(await page.next(events)) == ("trouble", NO_ANSWER)
    assert told(await page.next(events)) == ("parts", page.parts)


def test_where_no_stream_is_held_a_silent_store_is_told_as_well() -> None:
    """The browser asks again later: then all is sent anew."""
    for seen, event in ((None, "trouble"), ({"a": "<p>1</p>"}, "parts"), ({}, "parts")):
        retry, _, told_then = Page().stream.once(seen).partition("\n\n")
        assert (retry, told(told_then)[0]) == ("retry: 5000", event)


async def test_a_stream_ends_when_the_server_is_to_stop(page: Page) -> None:
    events = page.stream.events(page.parts)
    await page.next(events)
    began = page.clock.monotonic()
    page.stops = True
    assert await page.next(events) is None
    assert page.clock.monotonic() - began < EVERY


async def test_no_stream_goes_on_for_ever(page: Page) -> None:
    events = page.stream.events(page.parts)
    while await page.next(events) is not None:
        assert page.clock.monotonic() < 2 * LONGEST + page.looked * EVERY
    assert page.looked * EVERY == pytest.approx(LONGEST, abs=EVERY)


def test_whether_the_server_stops_is_read_where_uvicorn_notes_it() -> None:
    class Server:
        should_exit = False

        def handle_exit(self, *_: object) -> None: ...

    assert server_stops() is False
    server = Server()
    former = signal.signal(signal.SIGTERM, server.handle_exit)
    try:
        assert server_stops() is False
        server.should_exit = True
        assert server_stops() is True
    finally:
        signal.signal(signal.SIGTERM, former)


async def test_over_http_events_come_and_end_when_the_client_goes() -> None:
    store = MemoryStore()
    await join(store, "web-1", {"report": "every(minutes=1)"})
    gone, came = asyncio.Event(), asyncio.Event()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            came.set()

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": "GET", "scheme": "http", "path": "/live/overview", "raw_path": b"/live/overview",
        "query_string": b"search=rep", "root_path": "", "headers": [], "server": ("dashboard", 80),
    }  # fmt: skip
    serving = asyncio.ensure_future(dashboard(store, app=APP)(scope, receive, send))
    await came.wait()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert sent[0]["status"] == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store"
    name, parts = told(sent[1]["body"].decode())
    assert name == "parts"
    assert "report" in parts["row-0"]
    assert "hidden" in parts["row-1"]
    gone.set()
    await asyncio.wait_for(serving, 5)
