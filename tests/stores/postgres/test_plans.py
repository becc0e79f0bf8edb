"""How the server finds what a claim asks for."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from tests.stores.postgres.given import TICK, bid, claim, opened

_LOOKUP = """
EXPLAIN SELECT keys.* FROM (SELECT 'default' AS app, 'job 1' AS job_id, now() AS at OFFSET 0) AS keys
  LEFT JOIN LATERAL (
       SELECT * FROM onebeat_ticks AS tick
        WHERE tick.app = keys.app AND tick.job_id = keys.job_id AND tick.scheduled_at = keys.at LIMIT 1
       ) AS tick ON true
"""


@pytest.mark.parametrize("analyzed", [False, True], ids=["without statistics", "with statistics"])
async def test_a_claim_finds_its_tick_by_its_whole_key_however_many_share_its_instant(
    database: str, analyzed: bool
) -> None:
    """C-BATCH: or a thousand bids would each read a thousand ticks."""
    async with opened(PostgresStore(database)) as (store,):
        bids = [
            bid(Tick(f"job {number}", TICK.scheduled_at), lease=timedelta(hours=1)) for number in range(1_000)
        ]
        await claim(store, *bids)
    with psycopg.connect(database, autocommit=True) as connection:
        if analyzed:
            connection.execute("ANALYZE onebeat_ticks")
        plan = "\n".join(line for (line,) in connection.execute(_LOOKUP))
    [found_by] = [line for line in plan.splitlines() if "Index Cond" in line]
    assert all(f"({column} = " in found_by for column in ("app", "job_id", "scheduled_at")), plan
