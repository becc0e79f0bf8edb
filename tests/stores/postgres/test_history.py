"""What the history tells of the dead, and how the server finds a page of many ticks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from onebeat.history import Order, TickFilter
from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.postgres.history_sql import MARKS, ticks_sql
from onebeat.stores.postgres.history_sql import TICK as ONE_TICK
from onebeat.stores.postgres.schema import Tables
from tests.stores.postgres.fleet_given import INSTANT, die, join, run
from tests.stores.postgres.given import bid, claim, opened

_FILL = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token, claimed_by, released_at, verdict)
SELECT 'app', 'job ' || job, now() - tick * interval '1 min', 'token', 'web', now(), 'ran'
  FROM generate_series(1, 200) AS job, generate_series(1, 100) AS tick
"""
_PAGES: dict[str, Any] = {
    "the newest": (TickFilter(), None),
    "the next": (TickFilter(), Tick("job 7", INSTANT)),
    "of one job": (TickFilter(job_id="job 7"), None),
    "of a span": (TickFilter(since=INSTANT), None),
    "the oldest": (TickFilter(), None, Order.OLDEST_FIRST),
    "the next of one job, ascending": (
        TickFilter(job_id="job 7"),
        Tick("job 7", INSTANT),
        Order.OLDEST_FIRST,
    ),
}


def plan(database: str, sql: str, values: Mapping[str, object], *, generic: bool) -> str:
    with psycopg.connect(database, autocommit=True) as connection:
        mode = "force_generic_plan" if generic else "force_custom_plan"
        connection.execute(f"SET plan_cache_mode = {mode}".encode())
        connection.execute(f"PREPARE question (text) AS {Tables(None).into(sql)}".encode())
        asked = psycopg.sql.Literal(json.dumps({"app": "app", "limit": 21, **values}))
        return "\n".join(
            line
            for (line,) in connection.execute(psycopg.sql.SQL("EXPLAIN EXECUTE question({})").format(asked))
        )


@pytest.mark.parametrize("generic", [False, True], ids=["planned for its values", "planned for any"])
@pytest.mark.parametrize("analyzed", [False, True], ids=["without statistics", "with statistics"])
async def test_pages_and_single_ticks_are_found_by_an_index(
    database: str, analyzed: bool, generic: bool
) -> None:
    """F-VERDICT: in its order: a page of a million ticks costs what it costs of a hundred."""
    async with opened(PostgresStore(database)) as (store,):
        await store.migrate()
    run(database, "ALTER TABLE onebeat_ticks SET (autovacuum_enabled = false)")
    run(database, _FILL)
    if analyzed:
        run(database, "ANALYZE onebeat_ticks")
    key = {"job_id": "job 7", "at": INSTANT.isoformat()}
    plans = {"one": plan(database, ONE_TICK, key, generic=generic)}
    asked = {"job_ids": ["job 7", "job 70", "another"], "each": 50}
    plans["marks"] = plan(database, MARKS, asked, generic=generic)
    for name, page in _PAGES.items():
        sql, values = ticks_sql(*page)
        plans[name] = plan(database, sql, values, generic=generic)
    for name, lines in plans.items():
        ticks_read = [line for line in lines.splitlines() if " on onebeat_ticks" in line]
        assert all("Index Scan" in line for line in ticks_read), f"{name}\n{lines}"
        assert ticks_read
        assert "Sort Key" not in lines, f"{name}\n{lines}"


async def test_whoever_was_declared_dead_holds_nothing_though_nobody_has_buried_him(database: str) -> None:
    """F-JUDGE: as a claim sees it."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        await claim(store, bid())
        state = await store.job("report", app="app")
        assert state is not None
        assert (state.holder, state.lease_until is not None) == ("a", True)
        die(database, "a")
        state = await store.job("report", app="app")
        assert state is not None
        assert (state.holder, state.lease_until) == (None, None)
