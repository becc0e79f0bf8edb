"""Forms that change something: read within bounds, and only from the dashboard's own pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from onebeat.web.auth import BROWSER
from onebeat.web.seals import Seals

Form = Mapping[str, str]

LARGEST = 16_384
"""Bytes of a form at most."""

_MOST_FIELDS = 20
_NOT_OURS = (
    "The form was not made for you, or is too old: nothing was done. Load its page again, and send that."
)
_KIND = "application/x-www-form-urlencoded"


def acting(act: Callable[[Request, Form], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for forms of those who may act, and for nothing else: *act* is asked only then."""

    async def endpoint(request: Request) -> Response:
        if request.state.who is None:
            raise HTTPException(403, "Only those who are signed in may do that.")
        checked_origin(request)
        form = await read_form(request)
        seals: Seals = request.app.state.seals
        browser = request.cookies.get(BROWSER, "")
        # A header with the token is nothing that a browser adds by itself: no other site can have it sent.
        if not request.state.by_header and not seals.is_csrf(
            form.get("csrf", ""), browser, request.state.who
        ):
            raise HTTPException(403, _NOT_OURS)
        return await act(request, form)

    return endpoint


def checked_origin(request: Request) -> None:
    """Raises HTTPException for what a page of another origin has sent, as far as the browser tells."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        # The browser's own word, right also behind a proxy that gives the host another name.
        ours = site == "same-origin"
    else:
        ours = origin is None or _host_of(origin) == request.headers.get("host")
    if not ours:
        raise HTTPException(403, "That was sent by a page that is not the dashboard's: nothing was done.")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


async def read_form(request: Request) -> Form:
    """Its fields, each once. Raises HTTPException for what is no form, or larger than any of ours."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise HTTPException(415, f"A form is sent as {_KIND}.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise HTTPException(413, f"A form has {LARGEST} bytes at most.")
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError as error:  # UnicodeDecodeError too
        raise HTTPException(400, "That is not a form of the dashboard's.") from error
    form = dict(fields)
    if len(form) != len(fields):
        raise HTTPException(400, "A field of the form was given twice.")
    return form
