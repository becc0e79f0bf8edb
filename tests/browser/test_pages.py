"""Each page, over a fleet that runs."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.jobs import FAILING, QUICK
from tests.browser.visits import Visits


def test_overview_lists_every_job(visits: Visits) -> None:
    page = visits.open("/")
    expect(page.get_by_role("rowheader", name=QUICK, exact=True)).to_be_visible()
    expect(page.get_by_role("rowheader", name=FAILING, exact=True)).to_be_visible()
