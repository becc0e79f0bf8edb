"""Signing in with the token, and out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from onebeat.clock import SystemClock
from onebeat.errors import InvalidJob
from onebeat.model import checked_name
from onebeat.web.auth import BROWSER, SESSION, keep
from onebeat.web.forms import Form, checked_origin, read_form
from onebeat.web.rendering import page as drawn
from onebeat.web.returning import local, returned
from onebeat.web.seals import STAYS, Seals


async def page(request: Request) -> Response:
    """The form."""
    return _form(request, local(request.query_params.get("next")))


async def sign_in(request: Request) -> Response:
    """To the page that was asked for, with a session, if the token is right."""
    checked_origin(request)
    form = await read_form(request)
    seals: Seals = request.app.state.seals
    back = local(form.get("next"))
    try:
        name = checked_name("name", form.get("name", "").strip())
    except InvalidJob:
        return _form(request, back, wrong="The name has 1 to 200 characters, none of them a control.")
    if not seals.is_token(form.get("token", "")):
        return _form(request, back, name=name, wrong="That was not the token.")
    answer = _to(request, returned(back, "signed-in"))
    session = seals.session(name, SystemClock().now())
    keep(answer, request, SESSION, session, int(STAYS.total_seconds()))
    return answer


async def sign_out(request: Request, _: Form) -> Response:
    """The browser forgets who it was signed in as."""
    answer = _to(request, returned("/login", "signed-out"))
    for name in (SESSION, BROWSER):
        keep(answer, request, name, "", 0)
    return answer


def _form(request: Request, back: str, *, name: str = "", wrong: str = "") -> Response:
    return drawn(request, "login.html", status=403 if wrong else 200, next=back, name=name, wrong=wrong)


def _to(request: Request, path: str) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}", 303)
