"""The dashboard below a prefix of another app: forms, cookies and ways back stay there."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django  # type: ignore[import-untyped]
import httpx
import pytest
from django.conf import settings  # type: ignore[import-untyped]
from django.test import RequestFactory  # type: ignore[import-untyped]
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.web import dashboard
from onebeat.web.auth import BROWSER, SESSION
from onebeat.web.bridge import wsgi
from onebeat.web.django import dashboard_urls
from tests.project.pages import ROOT, section, table_names
from tests.web.fleet_rows import APP, join
from tests.web.test_auth import TOKEN, form_secret

HREF = re.compile(r'(?:href|action|src)="([^"]*)"')

if not settings.configured:
    settings.configure(USE_TZ=True, LOGGING_CONFIG=None)
    django.setup()


@pytest.fixture
def url(tmp_path: Path) -> str:
    path = tmp_path / "jobs.db"

    async def fill() -> None:
        store = SqliteStore(str(path))
        await join(store, "a", {"x": "every(60)"})
        await store.close()

    asyncio.run(fill())
    return f"sqlite:///{path}"


async def pause(client: httpx.AsyncClient, root: str) -> httpx.Response:
    page = (await client.get(f"{root}/job", params={"id": "x"})).text
    assert all(address.startswith((f"{root}/", "#")) for address in HREF.findall(page))
    fields = {"csrf": form_secret(page), "job": "x", "reason": "why", "back": "/job?id=x"}
    return await client.post(f"{root}/act/pause", data=fields)


async def _become(request: Request) -> Response:
    request.session["user"] = request.path_params["name"]
    return PlainTextResponse("")


async def test_a_fastapi_app_mounts_it_and_its_users_act() -> None:
    store = MemoryStore()
    await join(store, "a", {"x": "every(60)"})
    host = FastAPI(middleware=[Middleware(SessionMiddleware, secret_key="of the host")])

    host.add_route("/be/{name}", _become)
    host.mount("/ops/jobs", dashboard(store, app=APP, user=lambda request: request.session.get("user")))
    transport = httpx.ASGITransport(host)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        assert (await client.post("/ops/jobs/act/pause", data={"all": "yes"})).status_code == 403
        await client.get("/be/ada")
        answer = await pause(client, "/ops/jobs")
        assert (answer.status_code, answer.headers["location"]) == (303, "/ops/jobs/job?id=x&said=paused")
        assert (await client.get(answer.headers["location"])).status_code == 200
    [row] = (await store.audit(app=APP, limit=2)).rows
    assert (row.by, row.target) == ("ada", "job x")


async def test_wsgi_apps_mount_it_and_who_signs_in_acts(url: str) -> None:
    transport = httpx.WSGITransport(wsgi(url, app=APP, token=TOKEN), script_name="/ops")

    def act() -> None:
        with httpx.Client(transport=transport, base_url="http://shop") as client:
            form = {"name": "ada", "token": TOKEN, "next": "/job?id=x"}
            answer = client.post("/login", data=form)
            assert (answer.status_code, answer.headers["location"]) == (303, "/ops/job?id=x&said=signed-in")
            # The client sees no prefix, and would not send what is bound to it.
            session = answer.headers["set-cookie"].partition(";")[0]
            page = client.get("/job", params={"id": "x"}, headers={"Cookie": session})
            browser = page.headers["set-cookie"].partition(";")[0]
            sent = {"csrf": form_secret(page.text), "job": "x", "reason": "why", "back": "/job?id=x"}
            for cookies, status in ((f"{session}; {browser}", 303), (session, 403), (browser, 403)):
                answer = client.post("/act/pause", data=sent, headers={"Cookie": cookies})
                assert answer.status_code == status

    await asyncio.to_thread(act)


def test_django_hands_on_who_acts_and_every_cookie(url: str) -> None:
    [pattern] = dashboard_urls(url, app=APP, token=TOKEN)
    ada = SimpleNamespace(is_active=True, is_staff=True, get_username=lambda: "ada")

    def ask(method: str, path: str, cookies: dict[str, str], **data: Any) -> Any:
        factory = RequestFactory()
        factory.cookies.load(cookies)
        form = "&".join(f"{name}={value}" for name, value in data.items())
        options = {"content_type": "application/x-www-form-urlencoded"} if method == "post" else {}
        request = getattr(factory, method)(f"/ops/{path}", form if method == "post" else data, **options)
        request.user = ada
        return pattern.callback(request, path=path)

    page = ask("get", "job", {}, id="x")
    browser = {BROWSER: page.cookies[BROWSER].value}
    assert page.cookies[BROWSER]["path"] == "/ops"
    csrf = form_secret(page.content.decode())
    answer = ask("post", "act/pause", browser, csrf=csrf, job="x", reason="why")
    assert (answer.status_code, answer["Location"]) == (303, "/ops/?said=paused")
    assert ask("post", "act/pause", {}, csrf=csrf, job="x", reason="why").status_code == 403
    gone = ask("post", "logout", browser, csrf=csrf)
    assert {SESSION, BROWSER} <= set(gone.cookies)


def test_every_setting_of_a_dashboard_is_explained_and_no_other() -> None:
    page = ROOT / "docs" / "guides" / "dashboard.md"
    explained = table_names(section(page, "`dashboard(store"))
    assert explained == set(inspect.signature(dashboard).parameters)
