"""How long a fleet runs: seconds in every run of the tests, minutes with `-m soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

MINUTES = 180.0


@pytest.fixture(
    params=[pytest.param(8.0, id="seconds"), pytest.param(MINUTES, id="minutes", marks=pytest.mark.soak)]
)
def span(request: pytest.FixtureRequest) -> float:
    """Seconds for a fleet to run undisturbed; a fault comes on top."""
    return float(request.param)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The URL of a SQLite file of the test's own that does not exist yet."""
    return f"sqlite:///{tmp_path / 'claims.db'}"
