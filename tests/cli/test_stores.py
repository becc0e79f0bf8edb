"""`onebeat migrate` and `onebeat repair` name their store by argument or environment."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest

from onebeat.cli.targets import asked
from onebeat.errors import ClaimFailed
from onebeat.model import Bid, Replica, Tick
from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.testing import FakeClock

Onebeat = Callable[..., Any]


class Unreachable(MemoryStore):
    """As with psycopg's pool: the error says that time ran out, the log says why."""

    label = "postgresql://db/jobs"

    async def repair(self, *, app: str, job_id: str) -> bool:
        for reason in ("connection refused", "gave up"):
            logging.getLogger("psycopg.pool").warning(reason)
        raise ClaimFailed(f"{self.label}: no connection after 10 s")


def tables(path: Path) -> set[str]:
    db = sqlite3.connect(path)
    try:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        db.close()


def test_migrate_makes_the_tables_and_may_be_run_again(onebeat: Onebeat, tmp_path: Path) -> None:
    for _ in range(2):
        result = onebeat("migrate", f"sqlite:///{tmp_path / 'jobs.db'}")
        assert (result.code, result.err) == (0, "")
    assert {"onebeat_jobs", "onebeat_ticks"} <= tables(tmp_path / "jobs.db")


@pytest.mark.parametrize("variable", ["ONEBEAT_STORE", "DATABASE_URL"])
def test_the_store_may_come_from_the_environment(
    onebeat: Onebeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"sqlite:///{tmp_path / 'jobs.db'}")
    assert onebeat("migrate").code == 0
    assert onebeat("repair", "report").out == "report (app default): nothing to repair\n"


def test_the_printed_sql_makes_the_same_tables(onebeat: Onebeat, tmp_path: Path) -> None:
    script = onebeat("migrate", f"sqlite:///{tmp_path / 'unmade.db'}", "--sql").out
    assert not (tmp_path / "unmade.db").exists()
    db = sqlite3.connect(tmp_path / "printed.db")
    db.executescript(script)
    db.close()
    onebeat("migrate", f"sqlite:///{tmp_path / 'migrated.db'}")
    assert tables(tmp_path / "printed.db") == tables(tmp_path / "migrated.db")


def test_without_a_store_the_sql_is_for_postgresql_in_the_schema_asked_for(onebeat: Onebeat) -> None:
    result = onebeat("migrate", "--sql", "--schema", "jobs")
    assert result.code == 0
    assert '"jobs".onebeat_jobs' in result.out


def test_migrate_makes_the_tables_on_postgresql_in_the_schema_asked_for(
    onebeat: Onebeat, database: str
) -> None:
    for _ in range(2):
        result = onebeat("migrate", database, "--schema", "jobs")
        assert (result.code, result.err) == (0, "")
    with psycopg.connect(database) as db:
        assert db.execute("SELECT count(*) FROM jobs.onebeat_jobs").fetchone() == (0,)
    repaired = onebeat("repair", database, "report", "--schema", "jobs")
    assert repaired.out == "report (app default): nothing to repair\n"


def test_a_file_that_cannot_be_made_is_one_line_and_exit_code_1(onebeat: Onebeat, tmp_path: Path) -> None:
    result = onebeat("migrate", f"sqlite:///{tmp_path / 'absent' / 'jobs.db'}")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "folder does not exist" in result.err


def test_a_server_that_does_not_answer_is_one_line_with_the_reason() -> None:
    with pytest.raises(click.ClickException) as caught:
        asked(Unreachable(), Unreachable().repair(app="shop", job_id="report"))
    assert caught.value.exit_code == 1
    assert caught.value.message == "postgresql://db/jobs: no connection after 10 s: connection refused"


def test_repair_takes_back_a_watermark_ahead_of_the_clock_and_only_once(
    onebeat: Onebeat, tmp_path: Path
) -> None:
    """C-EARLY: a watermark ahead of the store's clock is repaired by people, never by itself."""
    asyncio.run(claim_far_ahead(tmp_path / "jobs.db"))
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    assert "taken back" in onebeat("repair", url, "report", "--app", "shop").out
    assert "nothing to repair" in onebeat("repair", url, "report", "--app", "shop").out


async def claim_far_ahead(path: Path) -> None:
    ahead = datetime.now(UTC).replace(microsecond=0) + timedelta(days=365)
    store = SqliteStore(path, clock=FakeClock(ahead))
    replica = Replica("shop", "r4nd0m", "web-1")
    bid = Bid(Tick("report", ahead), "token", timedelta(minutes=1))
    (answer,) = await store.claim([bid], replica=replica, timeout=timedelta(seconds=10))
    assert answer.won
    await store.close()
