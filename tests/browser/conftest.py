"""A fleet, a server and a browser, all real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import chromium
from tests.browser.jobs import APP
from tests.browser.programs import Replicas, Server
from tests.browser.visits import Visits, well_behaved
from tests.servers.postgres import Postgres


# A module's, not the session's: while Playwright runs in a thread, no other loop can.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.running() as browser:
        yield browser


@pytest.fixture(scope="session")
def fleet_dsn(postgres: Postgres) -> str:
    """A database of the browser tests' own."""
    return postgres.dsn(postgres.new_database())


@pytest.fixture(scope="session")
def fleet(fleet_dsn: str) -> Iterator[Replicas]:
    """Two replicas, which all tests share: kill none."""
    with Replicas(fleet_dsn, "alpha", "bravo") as replicas:
        yield replicas


@pytest.fixture(scope="session")
def server(fleet: Replicas, fleet_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard over that fleet."""
    with Server(fleet_dsn, tmp_path_factory.mktemp("dashboard"), APP) as server:
        yield server


@pytest.fixture
def visits(browser: Browser, server: Server) -> Iterator[Visits]:
    """Whoever looks at that dashboard; nothing may go wrong on the pages."""
    with well_behaved(browser, server) as visits:
        yield visits
