"""What the SQLite store does when its file is missing, locked, wrong, replaced or full of somebody else's."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onebeat.clock import SystemClock
from onebeat.errors import ClaimFailed, ClaimFailure, InvalidSetting, StoreUnusable
from onebeat.model import Answer, Bid, Release, Replica, Tick, Verdict
from onebeat.stores.sqlite import SqliteStore, apply_migrations, migration_sql, schema
from onebeat.stores.sqlite.file import SqliteFile

REPLICA = Replica("default", "a", "a")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
SOON = timedelta(milliseconds=50)
PATIENT = timedelta(seconds=30)
Open = Callable[..., SqliteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[Open]:
    """Opens stores, and closes them when the test is over."""
    stores: list[SqliteStore] = []

    def open_store(at: Path = path, **settings: Any) -> SqliteStore:
        stores.append(SqliteStore(at, **settings))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process writes in *path* for as long as the block lasts."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


def bid_for(n: int, token: str = "token", job_id: str = "report") -> Bid:
    return Bid(Tick(job_id, FIRST + timedelta(seconds=n)), token, lease=None)


async def claim(store: SqliteStore, *bids: Bid, timeout: timedelta = PATIENT) -> list[Answer]:
    return list(await store.claim(bids, replica=REPLICA, timeout=timeout))


async def failure_of(store: SqliteStore, *bids: Bid, timeout: timedelta = PATIENT) -> ClaimFailed:
    with pytest.raises(ClaimFailed) as caught:
        await claim(store, *(bids or (bid_for(0),)), timeout=timeout)
    return caught.value


async def test_a_locked_file_costs_a_claim_and_nothing_more(path: Path, opened: Open) -> None:
    """D-DOWN, D-LITE: it waits no longer than the claim timeout, says why, and recovers by itself."""
    store = opened(busy_timeout=20)
    await claim(store, bid_for(0))
    with locked(path):
        async with asyncio.timeout(10):
            error = await failure_of(store, bid_for(1), timeout=SOON)
        assert error.failure is ClaimFailure.UNAVAILABLE
        assert "another process keeps it locked" in str(error)
    assert (await claim(store, bid_for(1)))[0].won


async def test_a_claim_waits_for_the_file_and_the_loop_goes_on(path: Path, opened: Open) -> None:
    """D-LITE: the lock is waited for on the store's own thread."""
    store = opened()
    await claim(store, bid_for(0))
    with locked(path):
        task = asyncio.create_task(claim(store, bid_for(1)))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not task.done()
    assert (await task)[0].won


async def test_a_cancelled_claim_leaves_the_store_sound(path: Path, opened: Open) -> None:
    """C-CANCEL, C-TOKEN: it landed or it did not; its token is told the truth, and nobody wins twice."""
    store = opened()
    await claim(store, bid_for(0))
    with locked(path):
        task = asyncio.create_task(claim(store, bid_for(1, "given up")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    answers = [*await claim(store, bid_for(1, "given up")), *await claim(store, bid_for(1, "another"))]
    assert [answer.won for answer in answers] == [True, False]


async def test_time_passes_elsewhere_while_the_thread_works(opened: Open) -> None:
    """A fake clock waits for the file: every call says so."""

    class Watched(SystemClock):
        entered = 0

        @contextmanager
        def elsewhere(self) -> Iterator[None]:
            self.entered += 1
            yield

    clock = Watched()
    store = opened(clock=clock)
    await claim(store, bid_for(0))
    await store.release([Release(bid_for(0).tick, "token", Verdict.RAN)], replica=REPLICA)
    await store.prune(app="default", keep=PATIENT, limit=1)
    await store.repair(app="default", job_id="report")
    await store.close()
    assert clock.entered == 6, "pruning looks first, then deletes"


async def test_pruning_never_waits_for_another_writer(path: Path, opened: Open) -> None:
    """D-PRUNE: one replica at a time; for the others it is nothing at once."""
    store = opened(busy_timeout=20)
    await claim(store, bid_for(0))
    await store.release([Release(bid_for(0).tick, "token", Verdict.RAN)], replica=REPLICA)
    with locked(path):
        async with asyncio.timeout(10):
            assert await store.prune(app="default", keep=SOON, limit=10) == 0
    assert await store.prune(app="default", keep=SOON, limit=10) == 1


async def test_a_missing_folder_costs_claims_until_it_is_there(tmp_path: Path, opened: Open) -> None:
    """D-DOWN: the message says what to do, and doing it is enough."""
    store = opened(tmp_path / "new" / "jobs.db")
    error = await failure_of(store)
    assert error.failure is ClaimFailure.UNAVAILABLE
    assert f"create {tmp_path / 'new'}" in str(error)
    (tmp_path / "new").mkdir()
    assert (await claim(store, bid_for(0)))[0].won


async def test_a_file_that_is_no_database_costs_claims_until_it_is_gone(path: Path, opened: Open) -> None:
    """D-DOWN: nothing is written to it."""
    path.write_text("these are no claims\n" * 100)  # noqa: ASYNC240
    store = opened()
    assert "not an SQLite database; name another file" in str(await failure_of(store))
    path.unlink()  # noqa: ASYNC240
    assert (await claim(store, bid_for(0)))[0].won


async def test_a_file_replaced_under_an_open_store_is_left_for_the_new_one(path: Path, opened: Open) -> None:
    """C-ONE: else two replicas would each claim in a file of their own."""
    old, new = opened(), opened()
    await claim(old, bid_for(0))
    for part in path.parent.iterdir():
        part.unlink()
    assert (await claim(new, bid_for(1, "new")))[0].won
    assert not (await claim(old, bid_for(1, "old")))[0].won


async def test_a_bid_that_cannot_be_stored_is_refused_with_its_batch(opened: Open) -> None:
    """C-BATCH: as a fault of the bid, and nothing of its statement is kept."""
    store = opened()
    error = await failure_of(store, bid_for(0), bid_for(0, job_id="lone \ud800"))
    assert error.failure is ClaimFailure.REFUSED
    assert (await claim(store, bid_for(0, "other token")))[0].won


async def test_what_was_claimed_outlives_the_store(path: Path, opened: Open) -> None:
    """C-ONE: a restart; closing twice is harmless, and a closed store asked again opens the file again."""
    first = opened()
    await claim(first, bid_for(0))
    await first.close()
    await first.close()
    assert not (await claim(opened(), bid_for(0, "later")))[0].won
    assert not (await claim(first, bid_for(0, "again")))[0].won


async def test_a_store_serves_one_loop_after_another(path: Path) -> None:
    """D-LITE: it is tied to none."""
    store = SqliteStore(path)
    assert store.loop_bound is None
    for n in range(3):
        answers = await asyncio.to_thread(asyncio.run, claim(store, bid_for(n)))
        assert answers[0].won
    await store.close()


def test_the_label_says_which_file() -> None:
    """T-LOG: as its URL."""
    assert SqliteStore("jobs.db").label == "sqlite:///jobs.db"
    assert SqliteStore("/var/lib/jobs.db").label == "sqlite:////var/lib/jobs.db"


def test_a_file_stays_the_same_when_the_process_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-ONE: a relative path is read once, where the store is made."""
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("jobs.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    async def claim_and_close() -> None:
        await claim(store, bid_for(0))
        await store.close()

    asyncio.run(claim_and_close())
    assert (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize("path", ["", ":memory:", "file:jobs.db?mode=memory", "jobs\0.db", b"jobs.db"])
def test_what_is_no_shared_file_is_refused(path: Any) -> None:
    """D-LITE: a database in memory is seen by nobody else."""
    with pytest.raises(InvalidSetting, match=re.escape("MemoryStore()")):
        SqliteStore(path)


@pytest.mark.parametrize(
    "setting", [{"busy_timeout": 4.9}, {"busy_timeout": 0}, {"tolerance": -1}, {"synchronous": "OFF"}]
)
def test_settings_that_make_no_sense_are_refused(setting: dict[str, Any]) -> None:
    """D-LITE: a busy timeout of 5 s or more, and no setting that risks the file."""
    with pytest.raises(InvalidSetting, match=next(iter(setting))):
        SqliteStore("jobs.db", **setting)


@pytest.mark.parametrize(("setting", "level"), [("NORMAL", 1), ("FULL", 2)])
def test_the_file_is_in_wal_mode_and_as_durable_as_asked(path: Path, setting: str, level: int) -> None:
    """D-LITE: durability is a setting of each connection."""
    file = SqliteFile(str(path), synchronous=setting, patience=5)
    with file.writing() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (level,)
    file.close()


async def test_the_switch_to_wal_is_tried_until_the_file_is_free(
    path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-LITE: SQLite itself does not wait there, so first opens at once would fail."""
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("CREATE TABLE invoices (id INTEGER)")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM invoices").fetchall()
    pauses = []

    def pause(*between: float) -> float:
        pauses.append(between)
        reader.close()
        return 0.0

    monkeypatch.setattr("onebeat.stores.sqlite.file.random.uniform", pause)
    assert (await claim(opened(), bid_for(0)))[0].won
    assert len(pauses) == 1


def test_a_library_too_old_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-LITE: its least version is stated, and checked when the store is made."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 23, 1))
    with pytest.raises(StoreUnusable, match=re.escape("SQLite 3.24.0 or newer is needed")):
        SqliteStore("jobs.db")


def test_migrations_are_applied_once(path: Path) -> None:
    """D-LITE: as the command line does it."""
    assert apply_migrations(path) == len(schema.MIGRATIONS)
    assert apply_migrations(path) == 0


async def test_the_printed_migrations_are_those_that_are_applied(path: Path, opened: Open) -> None:
    """D-LITE: who runs the script by hand has the same tables, and the store makes none."""
    with sqlite3.connect(path) as db:
        db.executescript(migration_sql())
        by_hand = db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    db.close()
    assert apply_migrations(path) == 0
    assert (await claim(opened(), bid_for(0)))[0].won
    apply_migrations(path.with_name("other.db"))
    other = sqlite3.connect(path.with_name("other.db"))
    assert other.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall() == by_hand
    other.close()


def test_a_migration_that_fails_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-LITE: all or nothing, so that it can be applied again."""
    with monkeypatch.context() as patch:
        patch.setattr(
            schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE onebeat_new (a)", "CREATE NONSENSE"))
        )
        with pytest.raises(StoreUnusable, match="NONSENSE"):
            apply_migrations(path)
    assert apply_migrations(path) == len(schema.MIGRATIONS)


async def test_tables_newer_than_this_onebeat_are_left_alone(path: Path, opened: Open) -> None:
    """D-DOWN: the command line says so, and a replica loses ticks but runs on."""
    apply_migrations(path)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO onebeat_schema (version) VALUES (99)")
    db.close()
    with pytest.raises(StoreUnusable, match=r"version 99.*upgrade onebeat"):
        apply_migrations(path)
    assert "upgrade onebeat" in str(await failure_of(opened()))


def test_the_command_line_is_told_what_is_wrong_with_a_path(tmp_path: Path) -> None:
    """D-LITE: with the path in it, and what to do."""
    with pytest.raises(StoreUnusable, match=r"missing/jobs\.db: its folder does not exist; create "):
        apply_migrations(tmp_path / "missing" / "jobs.db")
    with pytest.raises(StoreUnusable, match="it cannot be opened; give this user access"):
        apply_migrations(tmp_path)


async def test_an_apps_own_tables_and_version_are_left_alone(path: Path, opened: Open) -> None:
    """D-LITE: the file may be the app's; `user_version` then belongs to the app."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE invoices (id INTEGER)")
        db.execute("PRAGMA user_version = 42")
    assert (await claim(opened(), bid_for(0)))[0].won
    assert db.execute("PRAGMA user_version").fetchone() == (42,)
    db.close()


async def test_a_thread_that_cannot_start_costs_a_claim_and_nothing_more(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-DOWN: too many threads in the process, for a moment."""
    store = opened()
    with monkeypatch.context() as crowded:
        crowded.setattr("onebeat.stores.sqlite.thread.Thread", _no_thread)
        with pytest.raises(RuntimeError):
            await claim(store, bid_for(0))
    async with asyncio.timeout(10):
        assert (await claim(store, bid_for(0)))[0].won


def _no_thread(**_: object) -> None:
    raise RuntimeError("can't start new thread")


async def test_a_close_that_is_not_waited_for_ends_the_thread_all_the_same(path: Path, opened: Open) -> None:
    """D-LITE: a file that stays locked holds up no shutdown, and keeps no thread for ever."""
    store = opened()
    await claim(store, bid_for(0))
    [thread] = [thread for thread in threading.enumerate() if thread.name == store.label]
    with locked(path):
        waiting = asyncio.ensure_future(claim(store, bid_for(1)))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store.close(), 0.01)
    await waiting
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()
