"""How the server finds what a claim asks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import LiteralString

import psycopg
import pytest

from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore, migrate
from onebeat.stores.postgres.wire import claim_request, release_request
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import TICK, TIMEOUT, bid, claim, ended, opened, replica

_LOOKUP = """
EXPLAIN SELECT keys.* FROM (SELECT 'default' AS app, 'job 1' AS job_id, now() AS at OFFSET 0) AS keys
  LEFT JOIN LATERAL (
       SELECT * FROM onebeat_ticks AS tick
        WHERE tick.app = keys.app AND tick.job_id = keys.job_id AND tick.scheduled_at = keys.at LIMIT 1
       ) AS tick ON true
"""

_GROWN = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token, verdict, released_at)
SELECT 'app', 'report', timestamptz '2020-01-01' + number * interval '1 minute', 'of old', 'ran', now()
  FROM generate_series(1, 100000) AS number;
INSERT INTO onebeat_jobs (app, job_id, fence)
SELECT 'app', 'job ' || number, 0 FROM generate_series(1, 10000) AS number
"""

_ROWS_READ = """
SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int FROM pg_stat_xact_user_tables
 WHERE relname LIKE 'onebeat_%'
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


class Session:
    """One session, in which runs of one job follow each other: how many rows each of them has read."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self._minutes = 0

    def run(self) -> tuple[int, int]:
        """By its claim, by its release."""
        self._minutes += 1
        one = bid(Tick(TICK.job_id, TICK.scheduled_at + timedelta(minutes=self._minutes)))
        claiming = claim_request([one], replica(), TIMEOUT, timedelta(seconds=5))
        by_claim = self._read("SELECT onebeat_claim(%s, %s)", claiming)
        return by_claim, self._read(
            "SELECT onebeat_release(%s, %s)", release_request([ended(one)], replica())
        )

    def _read(self, sql: LiteralString, texts: Sequence[str]) -> int:
        with self.connection.transaction():
            [(before,)] = self.connection.execute(_ROWS_READ)
            self.connection.execute(sql, texts)
            [(after,)] = self.connection.execute(_ROWS_READ)
        return int(after - before)


@pytest.mark.parametrize("analyzed", [False, True], ids=["never analyzed", "analyzed while tiny"])
async def test_a_plan_that_was_kept_from_small_tables_is_good_for_large_ones(
    postgres: Postgres, analyzed: bool
) -> None:
    """C-BATCH: functions keep the plans of the first runs of their session. Where the server was told how
    tiny the tables are, a release's is good again after the next ANALYZE, which autovacuum sees to."""
    database = postgres.dsn(postgres.new_database())
    await migrate(database)
    with psycopg.connect(database, autocommit=True, prepare_threshold=None) as connection:
        for table in ("onebeat_jobs", "onebeat_ticks"):  # none but our own ANALYZE
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        session = Session(connection)
        session.run()
        if analyzed:
            connection.execute("VACUUM ANALYZE")
        for _ in range(10):
            session.run()
        connection.execute(_GROWN)
        by_claim, by_release = session.run()
        assert by_claim < 50
        if analyzed:
            assert by_release > 10_000
            connection.execute("ANALYZE onebeat_jobs, onebeat_ticks")
            by_claim, by_release = session.run()
        assert (by_claim < 50, by_release < 50) == (True, True), (by_claim, by_release)
