"""What is said where there is no page to show."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from onebeat.errors import ClaimFailed
from onebeat.stores.memory import MemoryStore
from onebeat.web import dashboard, health
from tests.web.fleet_rows import APP, HOSTILE, HOSTILE_AS_SHOWN, join, visitor


class Silent:
    """A store that does not answer until it is told to."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.silent = True

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)

        async def asked(*args: Any, **named: Any) -> Any:
            if self.silent:
                raise ClaimFailed("cannot connect to postgresql://admin:secret@db")
            return await found(*args, **named)

        return asked


class Mistaken(MemoryStore):
    async def replicas(self, **_: Any) -> Any:
        raise ZeroDivisionError("a secret")


@pytest.mark.parametrize("path", ["/", "/job?id=a", "/tick?id=a&at=2027-03-01T12:00:00Z", "/fleet", "/audit"])
async def test_a_store_that_does_not_answer_is_told_and_not_how_it_is_reached(path: str) -> None:
    async with visitor(Silent()) as client:
        answer = await client.get(path)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "The store does not answer" in answer.text
    assert "secret" not in answer.text


async def test_a_silence_is_not_remembered() -> None:
    store = Silent()
    await join(store.store, "web-1", {"report": "every(minutes=1)"})
    async with visitor(store) as client:
        assert (await client.get("/")).status_code == 503
        store.silent = False
        assert (await client.get("/")).status_code == 200


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/?verdict=x", "verdict"),
        ("/?state=x", "state"),
        ("/?sort=x", "sort"),
        ("/?page=x", "page"),
        ("/live/overview?page=x", "page"),
        ("/calendar?day=x", "day"),
        ("/tick?id=a&at=x", "at"),
    ],
)
async def test_a_value_that_cannot_be_is_refused_by_its_name(path: str, field: str) -> None:
    async with visitor(MemoryStore()) as client:
        answer = await client.get(path)
    assert answer.status_code == 400
    assert field in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_what_is_not_there_is_not_found() -> None:
    async with visitor(MemoryStore()) as client:
        nowhere = await client.get("/nowhere")
        unknown = await client.get("/job", params={"id": HOSTILE})
        live = await client.get("/live/job", params={"id": HOSTILE})
        wrong = await client.post("/")
    assert (nowhere.status_code, "There is no such page." in nowhere.text) == (404, True)
    assert unknown.status_code == live.status_code == 404
    assert "<script>alert" not in unknown.text
    assert "\u202e" not in unknown.text
    assert HOSTILE_AS_SHOWN[:20] in unknown.text
    assert (wrong.status_code, "GET" in wrong.headers["Allow"]) == (405, True)


async def test_a_refused_value_is_shown_as_text() -> None:
    async with visitor(MemoryStore()) as client:
        answer = await client.get("/", params={"verdict": HOSTILE * 50})
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    assert len(answer.text) < 4_000


@pytest.mark.parametrize(
    ("path", "made"),
    [("/", dashboard), ("/live/overview", dashboard), ("/readyz", dashboard), ("/readyz", health)],
)
async def test_a_mistake_of_ours_is_told_plainly_and_as_guarded_as_any_page(path: str, made: Any) -> None:
    transport = httpx.ASGITransport(made(Mistaken(), app=APP), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://dashboard") as client:
        answer = await client.get(path)
        well = await client.get("/nowhere")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    for name in set(well.headers) - {"content-length", "content-type"}:
        assert answer.headers[name] == well.headers[name], name


async def test_a_mistake_of_ours_is_raised_for_the_server_to_log() -> None:
    async with visitor(Mistaken()) as client:
        with pytest.raises(ZeroDivisionError):
            await client.get("/")
