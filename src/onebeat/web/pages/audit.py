"""What people asked of the fleet."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.web.reading import Reader
from onebeat.web.rendering import page as drawn

_ROWS = 50


async def page(request: Request) -> HTMLResponse:
    """`after` is the cursor of the page before."""
    reader: Reader = request.app.state.reader
    after = request.query_params.get("after") or None
    found = await reader.history.audit(app=reader.app, limit=_ROWS, after=after)
    return drawn(request, "audit.html", records=found.rows, older=found.next, first=after is None)
