"""What people do on the pages is done by the fleet, and written down; who may not act cannot."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.jobs import HOSTILE, LONG, NIGHTLY
from tests.browser.keyboard import unreached
from tests.browser.programs import TOKEN
from tests.browser.visits import Visits, address

_NAME = "ada <b>"
_PATIENCE = 30_000  # ms; what is asked is heard with the next beat at the latest


@pytest.fixture
def page(visits: Visits) -> Page:
    """Somebody who has signed in."""
    page = visits.open("/login")
    page.get_by_label("Your name").fill(_NAME)
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def act(page: Page, job_id: str, what: str, reason: str, *, button: str | None = None) -> None:
    """Fill in the form of *what* on the page of *job_id*, and send it."""
    page.goto(address("/job", {"id": job_id}))
    page.locator("summary").get_by_text(what, exact=True).click()
    form = page.locator("details[open]")
    form.get_by_label("Why").fill(reason)
    form.get_by_role("button", name=button or what).click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def assert_written_down(page: Page, action: str, reason: str) -> None:
    page.goto("/audit")
    row = page.get_by_role("row").filter(has_text=reason)
    expect(row).to_contain_text(action)
    expect(row).to_contain_text(_NAME)


@pytest.mark.parametrize("job_id", [NIGHTLY, HOSTILE[0]])
def test_a_job_is_paused_and_resumed(page: Page, job_id: str) -> None:
    state = page.locator("#job-state")
    act(page, job_id, "Pause", f"the warehouse moves: {job_id}")
    expect(state).to_contain_text("paused")
    act(page, job_id, "Resume", f"it has moved: {job_id}")
    expect(state.locator(".badges")).not_to_contain_text("paused")
    assert_written_down(page, "pause", f"the warehouse moves: {job_id}")
    assert_written_down(page, "resume", f"it has moved: {job_id}")


def test_a_job_is_triggered_and_its_run_cancelled(page: Page) -> None:
    act(page, LONG, "Trigger", "asked for by the press", button="Run it once, now")
    newest = page.locator("#job-ticks").get_by_role("row").nth(1)
    expect(newest).to_contain_text("running", timeout=_PATIENCE)
    act(page, LONG, "Cancel", "not any more", button="Cancel what runs of it")
    expect(newest).to_contain_text("cancelled", timeout=_PATIENCE)
    assert_written_down(page, "trigger", "asked for by the press")
    assert_written_down(page, "cancel", "not any more")


def test_whoever_is_not_signed_in_is_offered_no_action(visits: Visits) -> None:
    page = visits.open("/job", {"id": NIGHTLY})
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    expect(page.locator("summary")).to_have_count(0)
    assert page.locator("form[method=post]").count() == 0


def test_a_wrong_token_lets_nobody_in(visits: Visits) -> None:
    page = visits.open("/login")
    page.get_by_label("Your name").fill(_NAME)
    page.get_by_label("Token").fill(TOKEN[::-1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    visits.wrong.clear()  # the browser tells on its console that it was refused


def test_who_has_signed_out_is_offered_no_action_any_more(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.goto(address("/job", {"id": NIGHTLY}))
    expect(page.locator("summary")).to_have_count(0)


@pytest.mark.parametrize("path", ["/", address("/job", {"id": NIGHTLY})])
def test_the_forms_are_for_everybody(page: Page, path: str) -> None:
    page.goto(path)
    for summary in page.locator("details.action > summary").all():
        summary.click()
    assert violations(page) == []
    assert unreached(page) == set()


def test_the_sign_in_is_for_everybody(visits: Visits) -> None:
    page = visits.open("/login")
    assert violations(page) == []
    assert unreached(page) == set()
