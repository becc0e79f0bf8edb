"""The dashboard inside apps that speak WSGI, and among Django's URLs."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from wsgiref.util import setup_testing_defaults

import django  # type: ignore[import-untyped]
import pytest
from django.conf import settings  # type: ignore[import-untyped]
from django.test import RequestFactory, override_settings  # type: ignore[import-untyped]
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette

from onebeat.errors import InvalidSetting
from onebeat.web import bridge
from onebeat.web.bridge import Bridge, wsgi
from onebeat.web.django import dashboard_urls

if not settings.configured:
    settings.configure(USE_TZ=True, LOGGING_CONFIG=None)
    django.setup()

STAFF = SimpleNamespace(is_active=True, is_staff=True, get_username=lambda: "ada")
STRANGER = SimpleNamespace(is_active=False, is_staff=False, get_username=lambda: "")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}"


def asked(app: Any, path: str, root: str = "", **environ: Any) -> tuple[str, dict[str, str], str]:
    told: dict[str, Any] = {}
    environ = {"SCRIPT_NAME": root, "PATH_INFO": path, "QUERY_STRING": "", **environ}
    setup_testing_defaults(environ)
    environ["wsgi.input"] = io.BytesIO()

    def start(status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        told.update(status=status, headers=dict(headers))

    body = b"".join(app(environ, start))
    return told["status"], told["headers"], body.decode()


def test_a_wsgi_app_shows_the_pages_below_its_place(store: str) -> None:
    status, headers, body = asked(wsgi(store, app="shop"), "/", root="/ops")
    assert status == "200 OK"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert 'href="/ops/fleet"' in body
    assert "shop" in body


def test_a_wsgi_app_holds_no_thread_for_a_page_that_is_open(store: str) -> None:
    """Its stream ends at once, and says when to ask again."""
    status, headers, body = asked(wsgi(store), "/live/overview")
    assert (status, headers["content-type"]) == ("200 OK", "text/event-stream; charset=utf-8")
    assert body.startswith("retry: 5000\n\nevent: parts\n")


def test_a_path_that_is_no_utf_8_is_not_found(store: str) -> None:
    status, _, _ = asked(wsgi(store), "/\xff")
    assert status == "404 Not Found"


def test_the_app_inside_lives_as_long_as_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connections are closed in order: a loop that is thrown away with their tasks complains of each."""
    endings: list[Callable[[], object]] = []
    told: list[str] = []

    def register(end: Callable[..., object], *given: object) -> None:
        endings.append(partial(end, *given))

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        told.append("begun")
        yield
        told.append("ended")

    monkeypatch.setattr(bridge, "atexit", SimpleNamespace(register=register))
    app = Bridge(Starlette(lifespan=life))
    asked(app, "/")
    asked(app, "/")
    [end] = endings
    end()
    assert told == ["begun", "ended"]


def test_what_serves_one_loop_alone_is_refused_by_name() -> None:
    """D-POOL: the dashboard's loop is another one."""
    pool = AsyncConnectionPool("postgresql://localhost/shop", open=False)
    with pytest.raises(InvalidSetting, match="AsyncConnectionPool"):
        wsgi(pool)


def served(store: str, path: str, user: Any, *, method: str = "get", **data: Any) -> Any:
    request = getattr(RequestFactory(), method)(f"/ops/jobs/{path}", **data)
    request.user = user
    [pattern] = dashboard_urls(store)
    return pattern.callback(request, path=path)


def test_django_shows_its_staff_the_pages_below_the_include(store: str) -> None:
    response = served(store, "fleet", STAFF)
    assert response.status_code == 200
    assert 'href="/ops/jobs/calendar"' in response.content.decode()
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert served(store, "static/onebeat.css", STAFF)["Content-Type"].startswith("text/css")
    assert served(store, "nowhere", STAFF).status_code == 404


def test_django_sends_others_to_its_login(store: str) -> None:
    with override_settings(ROOT_URLCONF=()):
        response = served(store, "", STRANGER)
    assert response.status_code == 302
    assert response["Location"].endswith("?next=%2Fops%2Fjobs%2F")


def test_django_answers_probes_without_asking_who_they_are(tmp_path: Path, store: str) -> None:
    """A probe takes a redirect for a yes, so it would never hear that the store is away."""
    assert served(store, "healthz", STRANGER).content == b"up\n"
    assert served(store, "readyz", STRANGER).status_code == 200
    assert served(f"sqlite:///{tmp_path}/nowhere/jobs.db", "readyz", STRANGER).status_code == 503
    with override_settings(ROOT_URLCONF=()):
        assert served(store, "metrics", STRANGER).status_code == 302


def test_no_header_makes_anybody_of_the_staff(store: str) -> None:
    """Who may act is told by what no client writes."""
    request = RequestFactory(headers={"onebeat.user": "eve"}).get("/ops/jobs/")
    request.user = STRANGER
    [pattern] = dashboard_urls(store, may_read=lambda user: True)
    assert "eve" not in pattern.callback(request, path="").content.decode()


def test_a_django_pattern_takes_any_path(store: str) -> None:
    [pattern] = dashboard_urls(store)
    assert pattern.resolve("static/onebeat.css").kwargs == {"path": "static/onebeat.css"}
