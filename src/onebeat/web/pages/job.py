"""One job: where and when it ran, how late and how long, what comes next, and why something did not run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.insight.upcoming import next_of
from onebeat.model import Verdict
from onebeat.web.job_reading import Jobs
from onebeat.web.rendering import page as drawn
from onebeat.web.rendering import rendered
from onebeat.web.settings import Settings
from onebeat.web.views.axis import time_steps
from onebeat.web.views.job_ask import JobAsk, job_ask
from onebeat.web.views.job_facts import JobFacts
from onebeat.web.views.job_state import badges, pause_told, why_not
from onebeat.web.views.plots import duration, lateness, plot
from onebeat.web.views.text import shown
from onebeat.web.views.tick_rows import tick_rows
from onebeat.web.views.timeline import timeline
from onebeat.web.views.upcoming import upcoming

_PARTS = {"job-state": "_job_state.html", "job-drawn": "_job_drawn.html", "job-ticks": "_job_ticks.html"}


async def page(request: Request) -> HTMLResponse:
    jobs: Jobs = request.app.state.jobs
    facts = await _facts(request, jobs.now)
    settings: Settings = request.app.state.settings
    ahead = facts.schedule and upcoming(facts.schedule, facts.now, settings.zone, facts.job.paused_until)
    return drawn(request, "job.html", **_shown(facts, settings), ahead=ahead, verdicts=tuple(Verdict))


async def fragments(request: Request) -> dict[str, str]:
    """What moves: how it stands, what is drawn, and the ticks of the page that is open."""
    jobs: Jobs = request.app.state.jobs
    values = _shown(await _facts(request, jobs.of_late), request.app.state.settings)
    return {element: rendered(request, template, **values) for element, template in _PARTS.items()}


async def _facts(request: Request, known: Callable[[JobAsk], Awaitable[JobFacts | None]]) -> JobFacts:
    """Raises HTTPException for a job that is not there."""
    ask = job_ask(request.query_params)
    facts = await known(ask)
    if facts is None:
        raise HTTPException(404, f"No replica of this app has ever registered a job {shown(ask.job_id)!r}.")
    return facts


def _shown(facts: JobFacts, settings: Settings) -> dict[str, Any]:
    window = facts.window
    return {
        "facts": facts,
        "ask": facts.ask,
        "name": shown(facts.job.job_id),
        "badges": badges(facts, settings.zone),
        "paused": pause_told(facts, settings.zone),
        "why": why_not(facts, settings.zone),
        "next_at": next_of(facts.job, facts.now),
        "window": window,
        "line": timeline(facts.drawn, facts.unclaimed, window),
        "steps": tuple(
            (window.x(step.at), step.label) for step in time_steps(window.since, window.until, settings.zone)
        ),
        "plots": tuple(
            made
            for name, of in (("Lateness", lateness), ("Duration", duration))
            if (made := plot(name, facts.drawn, of, window)) is not None
        ),
        "rows": tick_rows(facts.table.rows),
        "older": facts.table.next and facts.ask.older(facts.table.next).path,
    }
