"""F-FENCE: the SQL of the guide, on a real server, against a writer that woke up too late."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from onebeat.stores.postgres import PostgresStore
from tests.project.pages import ROOT
from tests.stores.postgres.given import TICK, bid, claim, opened
from tests.stores.postgres.transacted import told

_BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r":(\w+)")
STOCK, GUARDED, FENCES, ASKED = _BLOCK.findall((ROOT / "docs" / "guides" / "transactions.md").read_text())


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(STOCK)
        connection.execute(FENCES)
        connection.execute("INSERT INTO stock VALUES ('pen', 0)")
        yield connection


def written(connection: psycopg.Connection, sql: str, **values: Any) -> int:
    """How many rows *sql* of the guide wrote."""
    return connection.execute(_PARAMETER.sub(r"%(\1)s", sql), values).rowcount


async def two_fences(database: str) -> tuple[int, int]:
    """Of the claim of a replica that was taken for dead, and of the next attempt at its tick."""
    async with opened(PostgresStore(database)) as (store,):
        [zombie] = await claim(store, replace(bid(), rerun=True))
        told(database, "UPDATE onebeat_ticks SET verdict = 'lost', released_at = now(), wanted = 'rerun'")
        told(database, "UPDATE onebeat_jobs SET released_at = now()")
        [heir] = await claim(store, replace(bid(), attempt=2), by="b")
        assert (zombie.tick, heir.tick, heir.attempt) == (TICK, TICK, 2)
        return zombie.fence, heir.fence


async def test_the_late_write_of_a_zombie_is_refused(connection: psycopg.Connection, database: str) -> None:
    """F-FENCE: each run may write a row as often as it likes, until a newer one has."""
    zombie, heir = await two_fences(database)
    writes = [
        (zombie, 1, 1),
        (zombie, 2, 1),
        (heir, 3, 1),
        (zombie, 4, 0),
        (heir, 5, 1),
    ]
    for fence, amount, rows in writes:
        assert written(connection, GUARDED, item="pen", amount=amount, fence=fence) == rows
    assert told(database, "SELECT amount FROM stock") == 5


async def test_one_row_stands_for_all_that_a_run_writes(
    connection: psycopg.Connection, database: str
) -> None:
    """F-FENCE: also for the first run of all, and for two jobs side by side."""
    zombie, heir = await two_fences(database)
    asked = [("a", zombie, 1), ("b", heir, 1), ("a", heir, 1), ("a", zombie, 0), ("a", heir, 1)]
    for job_id, fence, rows in asked:
        assert written(connection, ASKED, job_id=job_id, fence=fence) == rows


async def test_a_zombie_that_got_there_first_is_waited_for(
    connection: psycopg.Connection, database: str
) -> None:
    """F-FENCE: what it does in its transaction is done before the newer run begins."""
    zombie, heir = await two_fences(database)
    with connection.transaction():
        written(connection, ASKED, job_id="a", fence=zombie)
        with psycopg.connect(database, autocommit=True) as other:
            other.execute("SET lock_timeout = '50ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                written(other, ASKED, job_id="a", fence=heir)
    assert written(connection, ASKED, job_id="a", fence=heir) == 1
