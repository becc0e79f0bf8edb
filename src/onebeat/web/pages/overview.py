"""Every job, and whether the fleet is well."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.history import JobState
from onebeat.model import Verdict
from onebeat.web.reading import MARKS, Overall, Reader
from onebeat.web.rendering import page as drawn
from onebeat.web.rendering import rendered
from onebeat.web.settings import Settings
from onebeat.web.views.overview import job_rows, wellness
from onebeat.web.views.overview_ask import OverviewAsk, Sort, State, overview_ask
from onebeat.web.views.overview_pick import ROWS, Picked, picked
from onebeat.web.views.strip import legend


async def page(request: Request) -> HTMLResponse:
    """`search`, `prefix`, `verdict`, `state`, `sort` and `page` say which jobs."""
    values = await _shown(request)
    return drawn(
        request,
        "overview.html",
        **values,
        verdicts=tuple(Verdict),
        states=tuple(State),
        sorts=tuple(Sort),
        legend=legend(),
    )


async def fragments(request: Request) -> dict[str, str]:
    """The line on top, how many were found, and each row by its place: an empty one where no job is."""
    values = await _shown(request)
    parts = {
        "overview-state": rendered(request, "_overview_state.html", **values),
        "overview-found": rendered(request, "_overview_found.html", **values),
    }
    for place in range(ROWS):
        row = values["rows"][place] if place < len(values["rows"]) else None
        parts[f"row-{place}"] = rendered(request, "_overview_row.html", row=row, place=place)
    return parts


async def _shown(request: Request) -> dict[str, Any]:
    reader: Reader = request.app.state.reader
    settings: Settings = request.app.state.settings
    ask = overview_ask(request.query_params)
    overall = await reader.overall()
    now = overall.fleet.now
    # Off the loop: ten thousand jobs are sought through, and asked when they are due.
    found = await asyncio.to_thread(_picked, reader, overall, ask)
    marks = await reader.marks([job.job_id for job in found.jobs])
    return {
        "well": wellness(overall.fleet, overall.troubles, overall.running),
        "ask": found.ask,
        "found": found,
        "rows": job_rows(
            found,
            marks,
            overall.running,
            lambda job: reader.instants.next_of(job, now),
            now=now,
            zone=settings.zone,
            places=MARKS,
        ),
        "places": ROWS,
        "zone": str(settings.zone),
    }


def _picked(reader: Reader, overall: Overall, ask: OverviewAsk) -> Picked:
    now = overall.fleet.now

    def next_of(job: JobState) -> Any:
        return reader.instants.next_of(job, now)

    return picked(overall.fleet.jobs, overall.running, ask, next_of)
