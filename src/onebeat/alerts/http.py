"""One HTTP request at a time, by the standard library. Blocks, and is slow to import: for outboxes."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from onebeat.alerts.outbox import Undelivered

_LATER = (408, 425, 429)


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would turn a POST into a GET, and carry secrets in headers to whom it names."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        return None


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> None:
    """Send *body*; return when the other side has answered 2xx. Certificates are verified.

    Raises Undelivered.
    """
    request = Request(url, body, {"User-Agent": "onebeat", **headers}, method="POST")
    try:
        # The body is not read: it says nothing, and could be made to last for ever.
        build_opener(_NoRedirect).open(request, timeout=timeout).close()
    except HTTPError as error:
        with error:
            again = error.code >= 500 or error.code in _LATER
            raise Undelivered(f"it answered {error.code}", again=again) from None
    except URLError as error:
        raise Undelivered(f"{error.reason}", again=True) from error
    except (OSError, HTTPException) as error:
        raise Undelivered(f"{type(error).__name__}: {error}", again=True) from error
