"""Pages that are open move by themselves, whatever becomes of the database and the server."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.jobs import APP, QUICK
from tests.browser.programs import Replicas, Server
from tests.browser.visits import Visits, well_behaved
from tests.servers.postgres import Postgres

_PATIENCE = 30_000  # ms; a page moves every few seconds


def newest(page: Page) -> Locator:
    """The newest tick of an open job page, which changes each second."""
    return page.locator("#job-ticks").get_by_role("rowheader").first


def assert_moves(page: Page) -> None:
    expect(newest(page)).not_to_have_text(newest(page).inner_text(), timeout=_PATIENCE)


def open_job(visits: Visits) -> Page:
    """A job's page, which would forget that it is the same if it were loaded again."""
    page = visits.open("/job", {"id": QUICK})
    page.evaluate("window.same = true")
    return page


def assert_same(page: Page) -> None:
    assert page.evaluate("window.same") is True


def test_marks_move_as_ticks_happen(visits: Visits) -> None:
    page = open_job(visits)
    assert_moves(page)
    assert_moves(page)
    assert_same(page)


def test_what_has_the_focus_keeps_it_when_it_is_drawn_anew(visits: Visits) -> None:
    page = open_job(visits)
    page.locator("#job-ticks select, #job-ticks a").last.focus()
    focused = "document.activeElement.getAttribute('href')"
    before = page.evaluate(focused)
    assert before
    assert_moves(page)
    assert page.evaluate(f"{focused} !== null && document.activeElement.isConnected")


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL that may be stopped at will."""
    with Postgres() as server:
        yield server


def test_a_page_survives_a_restart_of_the_database(
    own_postgres: Postgres, browser: Browser, tmp_path: Path
) -> None:
    dsn = own_postgres.dsn(own_postgres.new_database())
    with (
        Replicas(dsn, "alpha"),
        Server(dsn, tmp_path, APP) as server,
        well_behaved(browser, server) as visits,
    ):
        page = open_job(visits)
        assert_moves(page)
        own_postgres.stop("immediate")
        trouble = page.get_by_role("status").filter(has_text="store")
        expect(trouble).to_be_visible(timeout=_PATIENCE)
        own_postgres.start()
        expect(trouble).to_be_hidden(timeout=_PATIENCE)
        assert_moves(page)
        assert_same(page)


def test_a_server_stops_within_seconds_while_pages_are_open(
    fleet_dsn: str, fleet: Replicas, browser: Browser, tmp_path: Path
) -> None:
    with Server(fleet_dsn, tmp_path, APP) as server:
        visits = Visits(browser, server.url)
        pages = [open_job(visits), visits.open("/"), visits.open("/fleet")]
        assert_moves(pages[0])
        # In order, it then ends by the signal that it was sent.
        assert server.stop(patience=8) == -signal.SIGTERM, server.log()
        visits.close()


def test_a_page_goes_on_with_the_next_server(
    fleet_dsn: str, fleet: Replicas, browser: Browser, tmp_path: Path
) -> None:
    server = Server(fleet_dsn, tmp_path, APP)
    with server:
        visits = Visits(browser, server.url)
        page = open_job(visits)
        assert_moves(page)
        server.stop(patience=8)
    with server:
        assert_moves(page)
        assert_same(page)
        visits.close()
