"""Ids and errors made to do harm: they are read, and nothing of them is run, followed or filled in."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from onebeat.web.views.text import shown
from tests.browser.jobs import FAILING, HARM, HOSTILE
from tests.browser.programs import Server
from tests.browser.visits import Visits


def harmed(page: Page) -> object:
    return page.evaluate("window.harmed")


@pytest.mark.parametrize("job_id", HOSTILE)
def test_a_job_with_a_hostile_id_is_found_and_read_from_page_to_page(
    visits: Visits, server: Server, job_id: str
) -> None:
    page = visits.open("/")
    page.get_by_role("link", name=shown(job_id), exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(shown(job_id), use_inner_text=False)
    assert harmed(page) is None
    page.locator("#job-ticks").get_by_role("rowheader").first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Tick of")
    page.get_by_role("main").get_by_role("link", name=shown(job_id), exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(shown(job_id))
    assert harmed(page) is None
    assert page.url.startswith(f"{server.url}/job?")


def test_an_error_that_is_markup_is_read_as_text(visits: Visits) -> None:
    page = visits.open("/job", {"id": FAILING, "verdict": "failed"})
    expect(page.locator("#job-ticks").get_by_role("cell", name=HARM).first).to_be_visible()
    page.locator("#job-ticks").get_by_role("rowheader").first.get_by_role("link").click()
    expect(page.locator("pre")).to_contain_text(HARM)
    expect(page.locator("pre")).to_contain_text("Traceback")
    assert harmed(page) is None


@pytest.mark.parametrize("path", ["/", "/calendar", "/fleet", "/audit"])
def test_pages_that_name_all_jobs_run_none_of_their_ids(visits: Visits, path: str) -> None:
    page = visits.open(path)
    page.wait_for_function("() => document.readyState === 'complete'")
    assert harmed(page) is None
