"""Who may read and act: the token, the session, the host app's own word; and nobody else."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from onebeat.stores.memory import MemoryStore
from onebeat.web import dashboard
from onebeat.web.auth import BROWSER, SESSION
from onebeat.web.returning import local, returned
from onebeat.web.seals import STAYS, Seals
from tests.rows import NOON
from tests.web.fleet_rows import APP, visitor

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKEN = "a token that nobody guesses"


async def sign_in(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await client.post("/login", data={"name": "ada", "token": TOKEN, "next": "/fleet", **fields})


async def test_who_signs_in_is_known_by_name() -> None:
    async with visitor(MemoryStore(), token=TOKEN) as client:
        answer = await sign_in(client)
        assert (answer.status_code, answer.headers["location"]) == (303, "/fleet?said=signed-in")
        page = (await client.get("/fleet")).text
    assert "<bdi>ada</bdi>" in page
    assert "Sign out" in page


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "s", TOKEN.upper(), "ä" * 20, "\0"])
async def test_a_wrong_token_lets_nobody_in(wrong: str) -> None:
    async with visitor(MemoryStore(), token=TOKEN) as client:
        answer = await sign_in(client, token=wrong)
        assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)
        assert "That was not the token." in answer.text
        assert wrong == "" or wrong not in answer.text
        answer = await client.get("/", headers={b"Authorization": f"Bearer {wrong}".encode()})
    assert "Sign in" in answer.text


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\nb"])
async def test_who_signs_in_has_a_name_that_can_stand_in_the_audit(name: str) -> None:
    async with visitor(MemoryStore(), token=TOKEN) as client:
        answer = await sign_in(client, name=name)
    assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)


async def test_the_session_is_out_of_reach_of_scripts_other_sites_and_other_apps() -> None:
    host = Starlette(routes=[Mount("/ops", dashboard(MemoryStore(), app=APP, token=TOKEN))])
    transport = httpx.ASGITransport(host)
    async with httpx.AsyncClient(transport=transport, base_url="https://host") as client:
        answer = await client.post("/ops/login", data={"name": "ada", "token": TOKEN, "next": "/job?id=x"})
        assert answer.headers["location"] == "/ops/job?id=x&said=signed-in"
        page = await client.get("/ops/")
    for cookie in (answer.headers["set-cookie"], page.headers["set-cookie"]):
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"httponly", "samesite=strict", "secure", "path=/ops"} <= parts


async def test_signing_out_forgets_who_it_was() -> None:
    async with visitor(MemoryStore(), token=TOKEN) as client:
        await sign_in(client)
        csrf = form_secret((await client.get("/")).text)
        assert (await client.post("/logout", data={"csrf": csrf})).status_code == 303
        assert SESSION not in client.cookies
        assert BROWSER not in client.cookies


def form_secret(page: str) -> str:
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def test_a_session_is_believed_until_it_is_too_old_and_only_where_it_was_made() -> None:
    seals = Seals(TOKEN)
    session = seals.session("ada", NOON)
    assert seals.name_in(session, NOON + STAYS - timedelta(seconds=1)) == "ada"
    assert Seals(TOKEN).name_in(session, NOON) == "ada"  # another worker
    assert seals.name_in(session, NOON + STAYS) is None
    assert Seals("another token of this length").name_in(session, NOON) is None
    text, _, seal = session.partition(".")
    for forged in ("", ".", text, f"{text}.", f"{text}x.{seal}", f"{text}.{seal[:-1]}", f"{text}.\u00e4"):
        assert seals.name_in(forged, NOON) is None


def test_without_a_token_no_session_is_believed() -> None:
    assert Seals(None).name_in(Seals(None).session("ada", NOON), NOON) is None
    assert not Seals(None).is_token("")


def test_a_form_is_bound_to_its_browser_and_to_who_it_was_shown_to() -> None:
    seals = Seals(TOKEN)
    form = seals.csrf("browser", "ada")
    assert seals.is_csrf(form, "browser", "ada")
    assert not seals.is_csrf(form, "browser", "eve")
    assert not seals.is_csrf(form, "another", "ada")
    assert not Seals(None).is_csrf(form, "browser", "ada")
    assert not seals.is_csrf(seals.csrf("", "ada"), "", "ada")


async def test_a_private_dashboard_tells_strangers_nothing_but_that_it_is_up() -> None:
    async with visitor(MemoryStore(), token=TOKEN, private=True) as client:
        answer = await client.get("/job?id=x&over=1h")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?next=%2Fjob%3Fid%3Dx%26over%3D1h"
        for path in ("/live/overview", "/live/job?id=x"):
            assert (await client.get(path)).status_code == 401
        for path in ("/metrics", "/audit", "/nowhere", "//login/../audit"):
            assert (await client.get(path)).status_code in (303, 401, 404)
        assert (await client.post("/act/pause", data={"all": "yes"})).status_code == 401
        for path in ("/healthz", "/readyz", "/login", "/static/onebeat.css"):
            assert (await client.get(path)).status_code == 200
        known = {"Authorization": f"Bearer {TOKEN}"}
        assert (await client.get("/metrics", headers=known)).status_code == 200
        await sign_in(client)
        assert (await client.get("/audit")).status_code == 200


async def test_a_private_dashboard_of_a_host_that_knows_its_users_has_no_login() -> None:
    async with visitor(
        MemoryStore(), user=lambda request: request.headers.get("x-user"), private=True
    ) as client:
        assert (await client.get("/")).status_code == 401
        assert (await client.get("/login")).status_code == 404
        assert (await client.get("/", headers={"x-user": "ada"})).status_code == 200


async def _later(request: Request) -> str | None:
    return request.headers.get("x-user")


@pytest.mark.parametrize("hook", [lambda request: request.headers.get("x-user"), _later])
async def test_the_host_app_says_who_asks(hook: Any) -> None:
    async with visitor(MemoryStore(), user=hook) as client:
        assert "<bdi>ada</bdi>" in (await client.get("/", headers={"x-user": "ada"})).text
        assert 'class="session"' not in (await client.get("/")).text


def _broken(_: Request) -> str:
    raise RuntimeError("the database of users is down")


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (_broken, "hook failed"),
        (lambda _: "a\nb", "user: expected"),
        (lambda _: "", "user"),
        (lambda _: 7, "user"),
    ],
)
async def test_a_hook_that_fails_or_names_nobody_names_nobody(
    hook: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with visitor(MemoryStore(), user=hook) as client:
        answer = await client.get("/")
        assert answer.status_code == 200
        assert 'class="session"' not in answer.text
        assert (await client.post("/act/pause", data={"all": "yes", "reason": "x"})).status_code == 403
    assert next(record.levelno for record in caplog.records if told in record.getMessage()) == logging.ERROR


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "javascript:alert(1)",
        "/\t/evil.example", "/x\r\nSet-Cookie: a=b", "/" + "x" * 5_000, "/\u2028", "\\/evil.example",
    ],
)  # fmt: skip
async def test_nobody_is_sent_elsewhere(elsewhere: str) -> None:
    assert local(elsewhere) == "/"
    async with visitor(MemoryStore(), token=TOKEN) as client:
        answer = await sign_in(client, next=elsewhere)
    assert answer.headers["location"] == "/?said=signed-in"


def test_a_page_is_returned_to_with_one_word_of_ours() -> None:
    assert returned("/job?id=a%26b&said=paused", "resumed") == "/job?id=a%26b&said=resumed"


async def test_a_page_says_nothing_of_what_an_address_makes_it_say() -> None:
    async with visitor(MemoryStore()) as client:
        page = (await client.get("/fleet", params={"said": "Call this number"})).text
    assert "Call this number" not in page


async def test_what_a_server_shares_among_requests_tells_nobody_who_another_is() -> None:
    shared: dict[str, Any] = {}
    board = dashboard(MemoryStore(), app=APP, token=TOKEN)

    async def served(scope: Any, receive: Any, send: Any) -> None:
        await board({**scope, "state": shared}, receive, send)

    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(served), base_url="http://dashboard"
    ) as client:
        known = {"Authorization": f"Bearer {TOKEN}"}
        assert "bearer of the token" in (await client.get("/", headers=known)).text
    assert shared == {}
