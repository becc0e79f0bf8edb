"""Every page of the dashboard, by what it shows."""

from __future__ import annotations

from tests.browser.jobs import FAILING, HOSTILE, QUICK
from tests.browser.visits import Visits, address

_TICK = "the newest tick"

PLACES = {
    "overview": "/",
    "job": address("/job", {"id": QUICK}),
    "failing job": address("/job", {"id": FAILING}),
    "hostile job": address("/job", {"id": HOSTILE[0]}),
    "tick": _TICK,
    "calendar": "/calendar",
    "fleet": "/fleet",
    "audit": "/audit",
    "sign in": "/login?next=%2Ffleet",
}


def path_of(place: str, visits: Visits) -> str:
    """The path and query of *place*; of a tick, that of one of the failing job that just ended."""
    if PLACES[place] != _TICK:
        return PLACES[place]
    job = visits.open("/job", {"id": FAILING, "verdict": "failed"})
    path = (
        job.get_by_role("table")
        .first.get_by_role("rowheader")
        .first.get_by_role("link")
        .get_attribute("href")
    )
    assert path is not None
    return path
