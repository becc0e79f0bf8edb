"""An SQLite database that lives in this process's memory."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from onebeat.stores.sqlite.file import check_version
from onebeat.stores.sqlite.schema import migrate


class PrivateDatabase:
    """Seen by whoever holds this object, in any thread, one at a time; gone with it."""

    def __init__(self) -> None:
        check_version()
        self._lock = Lock()
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(self._db)
        weakref.finalize(self, self._db.close)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The database for this block alone: all that it writes is kept, or nothing."""
        with self._lock:
            self._db.execute("BEGIN")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database as it stands, for this block."""
        with self._lock:
            yield self._db
