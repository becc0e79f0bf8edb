"""One tick: what became of it, why, and all that is written down of it."""

from __future__ import annotations

import re
from datetime import datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.errors import InvalidSetting
from onebeat.insight.why import known_of
from onebeat.model import Tick
from onebeat.web.reading import Reader
from onebeat.web.rendering import page as drawn
from onebeat.web.settings import Settings
from onebeat.web.views.text import shown
from onebeat.web.views.tick_page import tick_page

_OFFSET = re.compile(r" (\d\d:\d\d)$", re.ASCII)


async def page(request: Request) -> HTMLResponse:
    reader: Reader = request.app.state.reader
    settings: Settings = request.app.state.settings
    tick = _tick(request)
    known = await known_of(reader.history, tick, reader.app)
    if known.job is None:
        raise HTTPException(404, f"No replica of this app has ever registered a job {shown(tick.job_id)!r}.")
    cancellable = tick if known.record is not None and known.record.verdict is None else None
    drawing = tick_page(known, settings.trace_url, settings.zone)
    return drawn(request, "tick.html", tick=drawing, cancellable=cancellable)


def _tick(request: Request) -> Tick:
    """Raises InvalidSetting for what names no tick, InvalidJob for an instant that is none."""
    job_id, at = request.query_params.get("id", ""), request.query_params.get("at", "")
    if not job_id:
        raise InvalidSetting("id", job_id, "the id of a job")
    try:
        # A plus that nobody has escaped arrives as a space.
        return Tick(job_id, datetime.fromisoformat(_OFFSET.sub(r"+\1", at)))
    except ValueError as error:
        raise InvalidSetting("at", at, "an instant with its zone, 2027-03-28T09:00:00Z say") from error
