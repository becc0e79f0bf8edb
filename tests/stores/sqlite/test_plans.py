"""What is asked often is found by an index, however many ticks there are."""

from __future__ import annotations

import sqlite3
from typing import Any

from onebeat.history import Order, TickFilter
from onebeat.model import Verdict
from onebeat.stores.sqlite import fleet_rows, rows
from onebeat.stores.sqlite.history_sql import ticks_sql
from onebeat.stores.sqlite.schema import migrate


def plan_of(sql: str, values: Any) -> str:
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(db)
        return " ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values))
    finally:
        db.close()


def test_a_beat_reads_only_what_is_wanted() -> None:
    """F-BEAT: never all ticks by their age, to find that nothing is wanted of them."""
    plan = plan_of(fleet_rows._WANTED, {"app": "app", "replica_id": "id"})
    assert "onebeat_ticks_wanted" in plan
    assert "onebeat_ticks_by_age" not in plan


def test_a_claim_finds_its_tick_and_its_job_by_their_keys() -> None:
    """C-BATCH: each in a few steps."""
    for sql, key in ((rows._TICK, ("app", "report", 1)), (rows._JOB, ("app", "report"))):
        assert "USING PRIMARY KEY" in plan_of(sql, key)


def test_what_runs_and_what_did_not_end_well_is_found_among_any_number_that_ran() -> None:
    """F-VERDICT: in either order, by an index of those alone; those that ran are not looked at."""
    bad = tuple(verdict for verdict in Verdict if verdict is not Verdict.RAN)
    for order in Order:
        for which, index in (
            (TickFilter(running=True), "onebeat_ticks_running"),
            (TickFilter(verdicts=(Verdict.LOST,)), "onebeat_ticks_not_run"),
            (TickFilter(verdicts=bad), "onebeat_ticks_not_run"),
        ):
            sql, values = ticks_sql(which, None, order)
            plan = plan_of(sql, {**values, "app": "app", "limit": 21})
            assert index in plan, plan
            assert "FOR ORDER BY" not in plan or "LAST TERM" in plan, plan
    sql, values = ticks_sql(TickFilter(verdicts=(Verdict.RAN, Verdict.LOST)), None)
    assert "not_run" not in plan_of(sql, {**values, "app": "app", "limit": 21})
