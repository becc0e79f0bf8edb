"""Who lives, what runs where, whether replicas agree, and how the store is."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.history import MOST_ROWS
from onebeat.web.health import Doctor
from onebeat.web.reading import Reader
from onebeat.web.rendering import page as drawn
from onebeat.web.rendering import rendered
from onebeat.web.views.fleet import fleet_view, level_badge, worst

_PARTS = {
    "fleet-state": "_fleet_state.html",
    "fleet-replicas": "_fleet_replicas.html",
    "fleet-running": "_fleet_running.html",
    "fleet-drift": "_fleet_drift.html",
    "fleet-health": "_fleet_health.html",
}


async def page(request: Request) -> HTMLResponse:
    return drawn(request, "fleet.html", **await _shown(request))


async def fragments(request: Request) -> dict[str, str]:
    """All of it moves."""
    values = await _shown(request)
    return {element: rendered(request, template, **values) for element, template in _PARTS.items()}


async def _shown(request: Request) -> dict[str, Any]:
    doctor: Doctor = request.app.state.doctor
    reader: Reader = request.app.state.reader
    findings = await doctor.findings()
    fleet = (await reader.overall()).fleet
    cut = len(fleet.running) >= MOST_ROWS
    return {
        # Off the loop: thousands of jobs on each of many replicas are compared.
        "fleet": await asyncio.to_thread(fleet_view, fleet.replicas, fleet.running, fleet.now, cut=cut),
        "findings": [(level_badge(finding.level), finding) for finding in findings],
        "health": level_badge(worst(findings)),
    }
