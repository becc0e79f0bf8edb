"""How the file is read: beside a writer, in the order of an index; and what its clock makes of the dead."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from onebeat.control import Target
from onebeat.errors import ClaimFailed
from onebeat.fleet import Facts
from onebeat.history import TickFilter
from onebeat.model import Bid, Replica, Tick, Verdict
from onebeat.stores.sqlite import SqliteStore
from onebeat.stores.sqlite.history_sql import JOBS, ticks_sql
from onebeat.stores.sqlite.schema import migrate
from onebeat.testing.clock import FakeClock

REPLICA = Replica("app", "id", "a")
HOUR = timedelta(hours=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(path: Path, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(path, clock=clock)
    yield opened
    await opened.close()


async def test_the_history_is_read_while_another_process_writes(
    store: SqliteStore, clock: FakeClock, path: Path
) -> None:
    """D-LITE: a reader waits for nobody, and nobody for it."""
    tick = Tick("report", clock.now())
    await store.claim([Bid(tick, "token", HOUR)], replica=REPLICA, timeout=HOUR)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE onebeat_ticks SET claimed_by = 'b'")
    row = await store.tick(tick, app="app")
    assert row is not None
    assert row.replica == "a"
    state = await store.job("report", app="app")
    assert state is not None
    assert state.holder == "a"
    assert (await store.ticks(TickFilter(running=True), app="app", limit=10)).rows == (row,)
    writer.execute("COMMIT")
    writer.close()
    row = await store.tick(tick, app="app")
    assert row is not None
    assert row.replica == "b"


async def test_a_long_read_holds_up_no_claim(store: SqliteStore, clock: FakeClock) -> None:
    """D-LITE, F-VERDICT: reads have a thread and a connection of their own."""
    begun, ended = threading.Event(), threading.Event()

    def long(db: sqlite3.Connection) -> None:
        db.execute("SELECT count(*) FROM onebeat_ticks").fetchone()
        begun.set()
        ended.wait(30)

    reading = asyncio.create_task(store._read(long))
    await asyncio.to_thread(begun.wait, 30)
    [answer] = await store.claim(
        [Bid(Tick("report", clock.now()), "token", HOUR)], replica=REPLICA, timeout=HOUR
    )
    assert answer.won
    assert not reading.done()
    ended.set()
    await reading


async def test_a_request_without_its_audit_row_is_not_kept(store: SqliteStore, path: Path) -> None:
    """F-PAUSE: both are one transaction."""
    await store.pause(Target(job_id="report"), app="app", by="ada", reason="first", until=None)
    with sqlite3.connect(path) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON onebeat_audit BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(ClaimFailed, match="full"):
        await store.resume(Target(job_id="report"), app="app", by="ada", reason="second")
    with pytest.raises(ClaimFailed, match="full"):
        await store.pause(Target.app(), app="app", by="ada", reason="third", until=None)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name, reason FROM onebeat_pauses").fetchall() == [("report", "first")]
        other.execute("DROP TRIGGER full")
    assert await store.resume(Target(job_id="report"), app="app", by="ada", reason="fourth")


async def test_the_dead_are_shown_for_a_day(store: SqliteStore, clock: FakeClock, path: Path) -> None:
    """F-JUDGE: after that their row tells nobody anything."""
    facts = Facts("2.0", "2026a", 1)
    await store.join([], replica=REPLICA, facts=facts, now=clock.now())
    await store.join([], replica=Replica("app", "other", "b"), facts=facts, now=clock.now())
    with sqlite3.connect(path) as other:
        other.execute("UPDATE onebeat_replicas SET dead_at = started_at WHERE label = 'a'")
    assert [state.label for state in await store.replicas(app="app")] == ["b", "a"]
    clock.step(hours=23)
    assert [state.label for state in await store.replicas(app="app")] == ["b", "a"]
    clock.step(hours=1)
    assert [state.label for state in await store.replicas(app="app")] == ["b"]


@pytest.mark.parametrize(
    "which",
    [
        TickFilter(),
        TickFilter(job_id="report"),
        TickFilter(prefix="rep"),
        TickFilter(verdicts=(Verdict.FAILED,)),
        TickFilter(since=datetime(2026, 1, 1, tzinfo=UTC)),
        TickFilter(running=True),
    ],
)
def test_a_page_is_read_in_the_order_of_an_index(which: TickFilter) -> None:
    """F-VERDICT: nothing is sorted, so a page of a million rows costs what it costs of a thousand."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    for after in (None, Tick("report", datetime(2026, 1, 1, tzinfo=UTC))):
        sql, values = ticks_sql(which, after)
        plan = [
            row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", {**values, "app": "a", "limit": 51})
        ]
        assert len(plan) == 1, plan
        assert "SEARCH onebeat_ticks USING" in plan[0]
        assert after is None or "scheduled_at<?" in plan[0]
    db.close()


def test_the_jobs_are_read_by_their_key_alone() -> None:
    """F-VERDICT: and the name of a holder from the newest ticks of its job."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    values = {"app": "a", "first": "", "last": "z", "after": "", "limit": 1, "now": 0}
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {JOBS}", values)]
    db.close()
    assert any(row.startswith("SEARCH b USING PRIMARY KEY (app=? AND job_id>?") for row in plan), plan
    assert any(row.startswith("SEARCH t USING PRIMARY KEY (app=? AND job_id=?") for row in plan), plan
    assert not any(row.startswith(("SCAN b", "SCAN t")) for row in plan), plan
