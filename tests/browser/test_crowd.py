"""Ten thousand jobs, and many ticks: 200,000 in every run of the tests, 2,000,000 with `-m soak`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import violations
from tests.browser.filled import fill
from tests.browser.programs import Server
from tests.browser.visits import Visits, well_behaved
from tests.servers.postgres import Postgres

_APP = "crowd"
_JOBS = 10_000


@pytest.fixture(
    scope="module",
    params=[pytest.param(20, id="many"), pytest.param(200, id="millions", marks=pytest.mark.soak)],
)
def crowd(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The dashboard over as many jobs, each with so many ticks."""
    dsn = postgres.dsn(postgres.new_database())
    fill(dsn, app=_APP, jobs=_JOBS, each=request.param)
    with Server(dsn, tmp_path_factory.mktemp("crowd"), _APP) as server:
        yield server


@pytest.fixture
def many(browser: Browser, crowd: Server) -> Iterator[Visits]:
    with well_behaved(browser, crowd) as visits:
        yield visits


def test_the_pages_of_all_jobs_are_walked_to_the_end(many: Visits) -> None:
    page = many.open("/")
    found = page.locator("#overview-found")
    expect(found).to_have_text("1 to 50 of 10,000 jobs")
    page.get_by_role("link", name="next", exact=True).click()
    expect(found).to_have_text("51 to 100 of 10,000 jobs")
    page.get_by_role("link", name="last", exact=True).click()
    expect(found).to_have_text("9,951 to 10,000 of 10,000 jobs")
    assert violations(page) == []


def test_one_of_them_is_found_by_a_part_of_its_id(many: Visits) -> None:
    page = many.open("/")
    page.get_by_label("Search").fill("09876")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#overview-found")).to_have_text("1 to 1 of 1 job")
    page.get_by_role("link", name="team 16/job 09876", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("team 16/job 09876")


def test_a_prefix_a_verdict_and_an_order_are_kept_from_page_to_page(many: Visits) -> None:
    page = many.open("/")
    page.get_by_label("Prefix").fill("team 0/")
    page.get_by_label("Last verdict").select_option("failed")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#overview-found")).to_have_text("1 to 50 of 250 jobs")
    page.get_by_role("columnheader").get_by_role("link", name="Next tick").click()
    page.get_by_role("link", name="last", exact=True).click()
    expect(page.locator("#overview-found")).to_have_text("201 to 250 of 250 jobs")
    assert page.get_by_role("row").filter(has_text="failed").count() == 50


@pytest.mark.parametrize("path", ["/", "/calendar", "/fleet", "/audit", "/job?id=team+1/job+00001"])
def test_each_page_opens(many: Visits, path: str) -> None:
    page = many.open(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert len(page.content()) < 150_000
