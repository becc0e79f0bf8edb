"""The dashboard among a Django project's URLs, under WSGI and ASGI alike. Needs the extra `ui`."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.conf import settings as django_settings  # type: ignore[import-untyped]
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect  # type: ignore[import-untyped]
from django.shortcuts import resolve_url  # type: ignore[import-untyped]
from django.urls import re_path  # type: ignore[import-untyped]
from django.views.decorators.csrf import csrf_exempt  # type: ignore[import-untyped]
from starlette.requests import Request

from onebeat.web.bridge import Bridge, wsgi

_OPEN = ("healthz", "readyz")
"""What probes ask: they sign in nowhere, and take a redirect for a yes."""

_WHO = "onebeat.user"
"""Where the environment of a request, which no client writes, names who may act."""


def _is_staff(user: Any) -> bool:
    return bool(user.is_active and user.is_staff)


def dashboard_urls(
    store: object,
    *,
    may_read: Callable[[Any], bool] = _is_staff,
    may_act: Callable[[Any], bool] = _is_staff,
    **settings: Any,
) -> list[Any]:
    """Patterns for `path("onebeat/", include(dashboard_urls(DSN)))`; *settings* are those of `dashboard`.

    Both functions are asked about Django's user; by default each needs `is_staff`. Who may not read is sent
    to the project's login page, except by `healthz` and `readyz`; who acts is named in the audit by the
    user's name. Raises InvalidSetting for a *store* that is bound to a loop.
    """
    bridge = wsgi(store, user=_named, **settings)

    @csrf_exempt  # type: ignore[untyped-decorator] # its forms are protected by the dashboard itself
    def view(request: HttpRequest, path: str) -> HttpResponse:
        if path in _OPEN:
            return _answered(bridge, _environ(request, path) | {_WHO: None})
        if not may_read(request.user):
            return _to_login(request)
        who = request.user.get_username() if may_act(request.user) else None
        return _answered(bridge, _environ(request, path) | {_WHO: who})

    return [re_path(r"^(?P<path>.*)$", view, name="onebeat")]


def _to_login(request: HttpRequest) -> HttpResponse:
    asked = urlencode({"next": request.get_full_path()})
    return HttpResponseRedirect(f"{resolve_url(django_settings.LOGIN_URL)}?{asked}")


def _named(request: Request) -> str | None:
    who: str | None = request.scope["wsgi_environ"][_WHO]
    return who


def _environ(request: HttpRequest, path: str) -> dict[str, Any]:
    """The request as WSGI has it, with *path* below the place where the patterns are included."""
    body = request.body
    return {
        **{name: value for name, value in request.META.items() if isinstance(value, str)},
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": _wire(request.path[: len(request.path) - len(path)].rstrip("/")),
        "PATH_INFO": _wire(f"/{path}"),
        "CONTENT_LENGTH": str(len(body)),
        "SERVER_PROTOCOL": request.META.get("SERVER_PROTOCOL", "HTTP/1.1"),
        "wsgi.url_scheme": request.scheme,
        "wsgi.input": BytesIO(body),
    }


def _wire(text: str) -> str:
    """As PEP 3333 has text: its bytes as Latin-1."""
    return text.encode().decode("latin-1")


def _answered(bridge: Bridge, environ: dict[str, Any]) -> HttpResponse:
    told: list[tuple[str, list[tuple[str, str]]]] = []
    body = b"".join(bridge(environ, lambda status, headers, *_: told.append((status, headers))))
    [(status, headers)] = told
    response = HttpResponse(body, status=int(status.split(" ", 1)[0]))
    for name, value in headers:
        if name.lower() == "set-cookie":
            response.cookies.load(value)  # there may be several
        else:
            response[name] = value
    return response
