"""The store in one SQLite file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypeVar

from onebeat.clock import Clock, SystemClock
from onebeat.errors import InvalidSetting
from onebeat.model import checked_duration
from onebeat.stores.sqlite.embedded import Work
from onebeat.stores.sqlite.failures import told_by
from onebeat.stores.sqlite.file import SqliteFile
from onebeat.stores.sqlite.health import file_health
from onebeat.stores.sqlite.sides import EmbeddedStore
from onebeat.stores.sqlite.thread import OwnThread

T = TypeVar("T")

_LEAST_PATIENCE = timedelta(seconds=5)
# Waiting for a lock takes real time, whatever a fake clock shows.
_elapsed = SystemClock().monotonic


class SqliteStore(EmbeddedStore):
    """Shared by every process on one machine that names the same file, on a disk of that machine.

    Opens the file, and makes its tables, with the first claim; a file that cannot be used costs ticks and
    is tried again with the next claim. *clock* is this replica's own, so the guard against ticks later
    than it by more than *tolerance* catches nothing but a tick asked for by mistake (C-EARLY). With
    *synchronous* NORMAL a machine that loses power may forget its last claims; FULL forgets none, and is
    some thirty times slower. *busy_timeout*, 5 s or more, is how long to wait for other writers.

    All statements run in one daemon thread, reads of the history in another. A claim that is cancelled while
    its statement runs goes on unheard: it may have landed, and its token can be released.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        tolerance: float | timedelta = 5,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
        busy_timeout: float | timedelta = 10,
    ) -> None:
        patience = checked_duration("busy_timeout", busy_timeout)
        if patience < _LEAST_PATIENCE:
            raise InvalidSetting("busy_timeout", busy_timeout, "5 s or more", "other replicas write too")
        if synchronous not in ("NORMAL", "FULL"):
            raise InvalidSetting("synchronous", synchronous, '"NORMAL" or "FULL"')
        name = _checked_path(path)
        self.label = f"sqlite:///{name}"
        super().__init__(clock, tolerance)
        self._file = SqliteFile(name, synchronous=synchronous, patience=patience.total_seconds())
        self._thread = OwnThread(self.label, rest=self._file.close)
        # Apart: a page of a long history must hold up no claim.
        self._read_file = SqliteFile(name, synchronous=synchronous, patience=patience.total_seconds())
        self._read_thread = OwnThread(f"{self.label} reads", rest=self._read_file.close)

    @property
    def path(self) -> str:
        """The file, wherever the process has gone since."""
        return self._file.path

    async def file_health(self) -> Mapping[str, Any]:
        """See `onebeat.stores.sqlite.health.file_health`. Reads the whole file: in a thread."""
        return await asyncio.to_thread(file_health, self.path)

    async def close(self) -> None:
        """Close the file when the statement in hand has ended. Asked anything later, it is opened again."""
        with self._clock.elsewhere():
            try:
                await self._thread.stop()
            finally:  # also when that is not waited for
                await self._read_thread.stop()

    async def _write(self, work: Work[T], *, timeout: timedelta | None = None) -> T:
        give_up_at = None if timeout is None else _elapsed() + timeout.total_seconds()

        def alone() -> T:
            patience = None if give_up_at is None else give_up_at - _elapsed()
            with self._file.writing(patience) as db:
                return work(db)

        return await self._call(self._thread, alone)

    async def _read(self, work: Work[T]) -> T:
        def undisturbed() -> T:
            with self._read_file.reading() as db:
                return work(db)

        return await self._call(self._read_thread, undisturbed)

    async def _call(self, thread: OwnThread, work: Callable[[], T]) -> T:
        def told() -> T:
            with told_by(self.label, advice=self._file.advice):
                return work()

        with self._clock.elsewhere():
            return await thread.call(told)


def _checked_path(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not isinstance(name, str) or not name or name.startswith((":memory:", "file:")) or "\0" in name:
        raise InvalidSetting("path", path, "the path of a file", "MemoryStore() keeps claims in memory")
    return name
