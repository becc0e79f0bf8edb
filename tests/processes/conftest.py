"""How long a fleet runs: seconds in every run of the tests, minutes with `-m soak`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.orders import Orders, orders_for
from tests.servers.postgres import Postgres

MINUTES = 180.0


@pytest.fixture(
    params=[pytest.param(6.0, id="seconds"), pytest.param(MINUTES, id="minutes", marks=pytest.mark.soak)]
)
def span(request: pytest.FixtureRequest) -> float:
    """Seconds for a fleet to run undisturbed; a fault comes on top."""
    return float(request.param)


@pytest.fixture
def rounds(span: float) -> int:
    """How often a fault that passes strikes in that time."""
    return max(1, round(span / 30))


@pytest.fixture(params=["postgresql", "sqlite"])
def orders(request: pytest.FixtureRequest, tmp_path: Path) -> list[Orders]:
    """For eight replicas on an empty PostgreSQL database, or four on one SQLite file yet to be made."""
    if request.param == "postgresql":
        return orders_for(8, request.getfixturevalue("database"), tmp_path)
    return orders_for(4, f"sqlite:///{tmp_path / 'claims.db'}", tmp_path)


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A PostgreSQL of the test's own, to be stopped at will."""
    with Postgres() as server:
        yield server
