"""Who lives, what runs where, whether replicas agree, and how the store is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.web.fleet_reading import FleetReader
from onebeat.web.rendering import page as drawn
from onebeat.web.rendering import rendered
from onebeat.web.views.fleet import level_mark, worst

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
    fleet: FleetReader = request.app.state.fleet
    findings = await fleet.health()
    return {
        "fleet": await fleet.view(),
        "findings": [(level_mark(finding.level), finding) for finding in findings],
        "health": level_mark(worst(findings)),
    }
