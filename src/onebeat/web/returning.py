"""Where a browser is sent after a form, and what it is told there: never elsewhere, nor in others' words."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.requests import Request

SAID = {
    "paused": "Paused.",
    "resumed": "Resumed.",
    "not-paused": "There was no pause of exactly that. One of a prefix, or of the whole app, may cover it.",
    "triggered": "Triggered: one of the replicas that have it runs it once, now.",
    "cancelling": "Cancelled: the replica that runs it hears of it within seconds.",
    "nothing-ran": "Nothing of it ran.",
    "signed-in": "Signed in.",
    "signed-out": "Signed out.",
}
"""All that a page says after a form, by the word for it in the address."""

_LONGEST = 4_000


def local(address: str | None) -> str:
    """*address* when it is a path below the dashboard's own, else that of the overview."""
    if not address or len(address) > _LONGEST or not address.startswith("/"):
        return "/"
    # A browser reads // and /\ as the start of a host's name, and drops tabs and line ends before it looks.
    if address[1:2] in ("/", "\\") or not address.isascii() or not address.isprintable():
        return "/"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else address


def returned(address: str | None, said: str) -> str:
    """*address*, if it is local, with *said* in its query: a key of SAID."""
    parts = urlsplit(local(address))
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != "said"]
    return f"{quote(parts.path, safe='/%')}?{urlencode([*query, ('said', said)])}"


def asked_page(request: Request) -> str:
    """The page that *request* shows, as `local` takes it; what moves on it belongs to it."""
    path = request.url.path.removeprefix(request.scope.get("root_path", "")).removeprefix("/live")
    return f"{path}?{request.url.query}" if request.url.query else path


def said_on(request: Request) -> str:
    """What is to be said on the page that *request* shows."""
    return SAID.get(request.query_params.get("said", ""), "")
