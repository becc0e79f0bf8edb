"""Real servers for the tests that need them; a run without PostgreSQL fails and says how to get it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres

# No test fails for being slow on a busy machine; unwatched, each run tries the same examples.
settings.register_profile("steady", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that all tests share: keep to a database of your own, and never stop it."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer(postgres: Postgres) -> Iterator[PgBouncer]:
    """A PgBouncer in transaction mode before `postgres`."""
    with PgBouncer(postgres) as server:
        yield server


@pytest.fixture
def database(postgres: Postgres) -> str:
    """The DSN of an empty database of the test's own."""
    return postgres.dsn(postgres.new_database())
