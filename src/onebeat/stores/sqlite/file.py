"""One SQLite file and this process's connection to it."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import cast

from onebeat.clock import SystemClock
from onebeat.errors import StoreUnusable
from onebeat.stores.sqlite.schema import migrate

LEAST_VERSION = (3, 24, 0)  # upserts came with it, in June 2018


def apply_migrations(path: str | os.PathLike[str], *, patience: float = 30.0) -> int:
    """Create or update the tables in *path*; how many migrations were missing.

    Raises StoreUnusable when the file cannot be opened or written; the message says what to do.
    """
    file = SqliteFile(os.fspath(path), synchronous="NORMAL", patience=patience)
    try:
        return file.open()
    except sqlite3.Error as error:
        raise StoreUnusable(f"{file.path}: {file.advice(error)}") from error
    finally:
        file.close()


def check_version() -> None:
    """Raise StoreUnusable when the SQLite library is too old."""
    if sqlite3.sqlite_version_info < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise StoreUnusable(f"SQLite {least} or newer is needed, this Python has {sqlite3.sqlite_version}")


class SqliteFile:
    """Opened when first needed, and anew after any error: a file that comes back is simply used again.

    Used by one thread at a time. *patience* is how long to wait in seconds for another writer.
    """

    def __init__(self, path: str, *, synchronous: str, patience: float) -> None:
        check_version()
        self.path = os.path.abspath(path)  # a later chdir must not name another file
        self._synchronous = synchronous
        self._patience = patience
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def open(self) -> int:
        """Open the file, in WAL mode and with its tables; how many migrations were missing."""
        # Not bound to one thread: before a fork, the thread that forks closes it. We say BEGIN ourselves.
        db = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            _switch_to_wal(db, self._patience)
            _wait_for_writers(db, self._patience)
            db.execute(f"PRAGMA synchronous = {self._synchronous}")
            migrated = migrate(db)
        except StoreUnusable as error:
            db.close()
            raise StoreUnusable(f"{self.path}: {error}") from error
        except BaseException:
            db.close()
            raise
        self._db, self._identity = db, self._identity_on_disk()
        return migrated

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[sqlite3.Connection]:
        """The connection, as the file's only writer until the block ends: then all of it is kept, or nothing.

        After any error the connection is closed, which rolls back.
        """
        wait = self._patience if patience is None else min(patience, self._patience)
        db = self._connection()
        try:
            _wait_for_writers(db, wait)
            # IMMEDIATE: one that first reads and then writes fails at once, whatever the busy timeout.
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, with the file as it stands at the first look into it. Waits for no writer."""
        db = self._connection()
        try:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")
        except BaseException:
            self.close()
            raise

    def advice(self, error: sqlite3.Error) -> str:
        """What *error* means here and what to do about it."""
        code = _primary_code(error)
        folder = os.path.dirname(self.path)
        if code == sqlite3.SQLITE_CANTOPEN and not os.path.isdir(folder):
            return f"its folder does not exist; create {folder} ({error})"
        return f"{_ADVICE[code]} ({error})" if code in _ADVICE else str(error)

    def _connection(self) -> sqlite3.Connection:
        if self._db is not None and self._identity != self._identity_on_disk():
            # Deleted or replaced: claims written to what we still hold would be seen by nobody else.
            self.close()
        if self._db is None:
            self.open()
        return cast(sqlite3.Connection, self._db)

    def _identity_on_disk(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _wait_for_writers(db: sqlite3.Connection, patience: float) -> None:
    db.execute(f"PRAGMA busy_timeout = {max(0, round(patience * 1000))}")


def _switch_to_wal(db: sqlite3.Connection, patience: float) -> None:
    """Retried here, with jitter: where several make the switch at once SQLite gives up without waiting."""
    clock = SystemClock()
    give_up_at = clock.monotonic() + patience
    pause = Event()
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not is_busy(error) or clock.monotonic() > give_up_at:
                raise
            pause.wait(random.uniform(0.005, 0.05))
        else:
            break
    if mode != "wal":
        raise StoreUnusable("it cannot be put into WAL mode: is it on a network file system, or in memory?")


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's own code; that of an error of Python's module, which has none, is SQLITE_ERROR."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked; end its transaction",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked; end its transaction",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; give this user access to the file and its folder",
    sqlite3.SQLITE_READONLY: "it cannot be written; give this user write access to the file and its folder",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore it from a backup while no replica runs",
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_IOERR: "the disk failed; look at the system's log",
}
