"""What every response says: nothing from elsewhere, in no frame, kept by nobody."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Headers:
    """Adds them to what *inner* answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._inner = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_to(MutableHeaders(scope=message))
            await send(message)

        await self._inner(scope, receive, send_with if scope["type"] == "http" else send)


async def broken(request: Request, error: Exception) -> Response:
    """A mistake of ours, which the server logs. Starlette sends this from outside all middleware, and no
    template is asked: it may be what is broken."""
    answer = PlainTextResponse("The dashboard has failed at this. Its server's log tells why.\n", 500)
    _add_to(answer.headers)
    return answer


def _add_to(headers: MutableHeaders) -> None:
    for name, value in _ALWAYS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "no-store")
