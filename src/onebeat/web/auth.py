"""Who asks: known by the host app, by the token, or as one who has signed in with it."""

from __future__ import annotations

import logging
import secrets
from inspect import isawaitable, iscoroutinefunction
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onebeat.clock import Clock, SystemClock
from onebeat.errors import InvalidJob
from onebeat.model import checked_name
from onebeat.web.returning import asked_page
from onebeat.web.seals import Seals
from onebeat.web.settings import Hook, Settings

SESSION = "onebeat-session"
"""The cookie of one who has signed in."""

BROWSER = "onebeat-browser"
"""The cookie with a secret of the browser's own, to which its forms are bound."""

BY_TOKEN = "bearer of the token"
"""Who asks with the token in a header, as the audit names it."""

_OPEN = ("/static/", "/login", "/healthz", "/readyz")
_log = logging.getLogger("onebeat")


class Known:
    """Says who asks, before *app* answers: `request.state.who` is a name or None, `request.state.csrf` what
    that one's forms are to say. Whoever is not known reads nothing of a private dashboard."""

    def __init__(self, app: ASGIApp, settings: Settings, seals: Seals, clock: Clock | None = None) -> None:
        self._inner = app
        self._settings = settings
        self._seals = seals
        self._clock = clock or SystemClock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _path(scope).startswith("/static/"):
            return await self._inner(scope, receive, send)
        scope["state"] = dict(scope.get("state", {}))  # the server's own is shared by all requests
        request = Request(scope, receive)
        by_header = self._has_token(request)
        request.state.by_header = by_header
        request.state.who = who = BY_TOKEN if by_header else await self._who(request)
        if who is None and self._settings.private and not _path(scope).startswith(_OPEN):
            return await self._turned_away(request)(scope, receive, send)
        browser = request.cookies.get(BROWSER, "")
        fresh = "" if browser or who is None else secrets.token_urlsafe(24)
        request.state.csrf = "" if who is None else self._seals.csrf(browser or fresh, who)
        return await self._inner(scope, receive, _with_secret(request, fresh, send) if fresh else send)

    def _has_token(self, request: Request) -> bool:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self._seals.is_token(given.strip())

    async def _who(self, request: Request) -> str | None:
        if self._settings.user is not None:
            found = await _named(self._settings.user, request)
            if found is not None:
                return found
        return self._seals.name_in(request.cookies.get(SESSION, ""), self._clock.now())

    def _turned_away(self, request: Request) -> Response:
        if request.method == "GET" and self._settings.token and not _path(request.scope).startswith("/live/"):
            query = urlencode({"next": asked_page(request)})
            return RedirectResponse(f"{request.scope.get('root_path', '')}/login?{query}", 303)
        headers = {"WWW-Authenticate": "Bearer"} if self._settings.token else None
        return PlainTextResponse("This dashboard is private: it does not know who you are.\n", 401, headers)


async def _named(hook: Hook, request: Request) -> str | None:
    """Whom the host app's hook names. One that fails, or names nobody that can stand in the audit, names
    nobody at all."""
    try:
        found = await (hook(request) if iscoroutinefunction(hook) else run_in_threadpool(hook, request))
        name = await found if isawaitable(found) else found
        return None if name is None else checked_name("user", name)
    except InvalidJob as error:
        _log.error("the dashboard's user hook: %s", error)
    except Exception:  # the host's own: a page that fails would tell less
        _log.exception("the dashboard's user hook failed: nobody is known by it")
    return None


def keep(response: Response, request: Request, name: str, value: str, seconds: int | None = None) -> None:
    """Have the browser keep *value* for the dashboard alone, out of reach of scripts and other sites."""
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=request.scope.get("root_path", "") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _with_secret(request: Request, secret: str, send: Send) -> Send:
    """*send*, and the secret with it that the forms of this page are bound to."""
    carrier = Response()
    keep(carrier, request, BROWSER, secret)

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("Set-Cookie", carrier.headers["set-cookie"])
        await send(message)

    return send_with


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
