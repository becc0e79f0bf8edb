"""Until when something is paused, in whatever time zone the server's sessions are."""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
import pytest

from onebeat.control import Target
from onebeat.history import END_OF_TIME
from onebeat.stores.postgres import PostgresStore
from tests.stores.postgres.given import bid, claim, opened


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "UTC", "America/Los_Angeles"])
@pytest.mark.parametrize("until", [END_OF_TIME, END_OF_TIME - timedelta(hours=1), None])
async def test_a_pause_to_the_end_of_time_can_be_read_wherever_the_server_is(
    database: str, zone: str, until: datetime | None
) -> None:
    """F-PAUSE: east of UTC such an end lies in the year 10000."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET timezone = '{zone}'".encode())
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        await store.pause(Target(job_id="report"), app="app", by="ada", reason="a test", until=until)
        state = await store.job("report", app="app")
        [asked] = (await store.audit(app="app", limit=5)).rows
    assert state is not None
    assert state.paused_until == (until or END_OF_TIME)
    assert asked.until == until
