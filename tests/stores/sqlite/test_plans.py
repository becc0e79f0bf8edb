"""What is asked often is found by an index, however many ticks there are."""

from __future__ import annotations

import sqlite3
from typing import Any

from onebeat.stores.sqlite import fleet_rows, rows
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
