"""What a trigger finds in the tables, which instant it takes, and what is kept of a request that fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from onebeat.stores.sqlite.control import Ask, cancel, trigger
from onebeat.stores.sqlite.schema import migrate

NOW = 1_767_225_600_500_000
"""Half a second past a whole one."""
_JOB = (
    "INSERT INTO onebeat_jobs (app, job_id, triggered_at, first_seen, changed_at) VALUES ('app', ?, ?, 0, 0)"
)
_TICK = "INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token) VALUES ('app', ?, ?, ?)"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with_tables = sqlite3.connect(":memory:", isolation_level=None)
    migrate(with_tables)
    with_tables.execute(_JOB, ("report", None))
    yield with_tables
    with_tables.close()


def asked(now: int = NOW) -> Ask:
    return Ask("app", now, "ada", "why")


def test_a_trigger_takes_the_present_instant(db: sqlite3.Connection) -> None:
    """F-PAUSE: that of the store's clock."""
    assert trigger(db, asked(), "report", False) == NOW


def test_a_trigger_takes_no_instant_that_has_a_row(db: sqlite3.Connection) -> None:
    """F-PAUSE: of its own job; another's is free."""
    db.executemany(_TICK, [("report", NOW, "t"), ("report", NOW + 1, None), ("other", NOW + 2, "t")])
    assert trigger(db, asked(), "report", False) == NOW + 2


def test_a_trigger_passes_over_whole_seconds(db: sqlite3.Connection) -> None:
    """F-PAUSE, S-KEY: also where it is pushed onto one."""
    assert trigger(db, asked(NOW + 500_000), "report", False) == NOW + 500_001
    db.execute("DELETE FROM onebeat_ticks")
    db.execute(_TICK, ("report", NOW + 499_999, "t"))
    assert trigger(db, asked(NOW + 499_999), "report", False) == NOW + 500_001


def test_a_trigger_lies_after_the_newest_that_was_claimed(db: sqlite3.Connection) -> None:
    """F-PAUSE: though the clock was set back since, and its row pruned."""
    db.execute("UPDATE onebeat_jobs SET triggered_at = ?", (NOW + 7,))
    assert trigger(db, asked(), "report", False) == NOW + 8


def test_a_trigger_lies_after_those_that_wait(db: sqlite3.Connection) -> None:
    """F-PAUSE: else it would never be taken up once a later one was."""
    waiting = trigger(db, asked(NOW + 10), "report", False)
    db.execute(_JOB, ("other", None))
    assert trigger(db, asked(), "report", True) == waiting + 1
    assert trigger(db, asked(), "other", False) == NOW


def test_what_is_forced_is_written_down(db: sqlite3.Connection) -> None:
    """F-PAUSE: the replica that takes it up has to know."""
    trigger(db, asked(), "report", False)
    trigger(db, asked(), "report", True)
    rows = db.execute("SELECT forced, triggered, wanted, token FROM onebeat_ticks ORDER BY scheduled_at")
    assert rows.fetchall() == [(0, 1, "run", None), (1, 1, "run", None)]


def test_a_verdict_on_a_tick_that_nobody_holds_is_not_cancelled(db: sqlite3.Connection) -> None:
    """F-PAUSE, F-VERDICT: there is nothing to cancel of a tick that was missed."""
    db.execute(_TICK, ("report", NOW, None))
    db.execute("UPDATE onebeat_ticks SET verdict = 'missed', provisional = 0")
    assert cancel(db, asked(), "report", None) == []
    assert db.execute("SELECT verdict, wanted, note FROM onebeat_ticks").fetchall() == [
        ("missed", None, None)
    ]
