"""What a page says instead, when it cannot be shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from onebeat.errors import ClaimFailed, InvalidJob, InvalidSetting
from onebeat.web.headers import broken
from onebeat.web.rendering import page
from onebeat.web.views.text import cut

_LONGEST = 500


async def _http(request: Request, error: Exception) -> Response:
    """What was not found, or not allowed."""
    assert isinstance(error, HTTPException)  # Starlette calls by type
    title = HTTPStatus(error.status_code).phrase
    detail = "There is no such page." if error.detail == title else error.detail
    return _refusal(request, error.status_code, title, detail, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    return _refusal(request, 400, "That cannot be asked", str(error))


async def _no_answer(request: Request, error: Exception) -> Response:
    detail = "Ticks are claimed and run as long as it answers the replicas. Load the page again in a moment."
    return _refusal(request, 503, "The store does not answer", detail, {"Retry-After": "5"})


HANDLERS: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    HTTPException: _http,
    InvalidSetting: _invalid,
    InvalidJob: _invalid,
    ClaimFailed: _no_answer,
    Exception: broken,
}
"""By the kind of error, as Starlette takes them."""


def _refusal(
    request: Request, status: int, title: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    answer = page(request, "refusal.html", status=status, title=title, detail=cut(detail, _LONGEST))
    answer.headers.update(headers or {})
    return answer
