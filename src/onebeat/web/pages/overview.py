"""Every job, and whether the fleet is well."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.web.reading import Reader
from onebeat.web.rendering import page as drawn


async def page(request: Request) -> HTMLResponse:
    reader: Reader = request.app.state.reader
    return drawn(request, "overview.html", jobs=await reader.jobs())
