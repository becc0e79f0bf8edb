"""Claims in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Literal, TypeVar

from onebeat.clock import Clock, SystemClock
from onebeat.errors import ClaimFailed, ClaimFailure, InvalidSetting, StoreUnusable
from onebeat.model import Answer, Bid, Release, Replica, checked_duration
from onebeat.stores.ruling import MICROSECOND, end, micros, repair, rule, tick_key
from onebeat.stores.sqlite import rows
from onebeat.stores.sqlite.file import SqliteFile, is_busy
from onebeat.stores.sqlite.thread import OwnThread

T = TypeVar("T")

_LEAST_PATIENCE = timedelta(seconds=5)
# Faults of what was asked, not of the file: asked again they would fail again.
_REFUSALS = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    UnicodeError,
    OverflowError,
)


class SqliteStore:
    """Shared by every process on one machine that names the same file, on a disk of that machine.

    Opens the file, and makes its tables, with the first claim; a file that cannot be used costs ticks and
    is tried again with the next claim. *clock* is this replica's own, so the guard against ticks later
    than it by more than *tolerance* catches nothing but a tick asked for by mistake (C-EARLY). With
    *synchronous* NORMAL a machine that loses power may forget its last claims; FULL forgets none, and is
    some thirty times slower. *busy_timeout*, 5 s or more, is how long to wait for other writers.

    All statements run in one daemon thread. A claim that is cancelled while its statement runs goes on
    unheard: it may have landed, and its token can be released.
    """

    loop_bound = None

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
        self._clock = clock or SystemClock()
        self.tolerance = checked_duration("tolerance", tolerance)
        self._file = SqliteFile(name, synchronous=synchronous, patience=patience.total_seconds())
        self._thread = OwnThread(self.label, rest=self._file.close)
        # Waiting for a lock takes real time, whatever a fake clock shows.
        self._elapsed = SystemClock().monotonic

    @property
    def path(self) -> str:
        """The file, wherever the process has gone since."""
        return self._file.path

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        give_up_at = self._elapsed() + timeout.total_seconds()
        return await self._call(partial(self._claim, bids, replica, give_up_at))

    def _claim(self, bids: Sequence[Bid], replica: Replica, give_up_at: float) -> Sequence[Answer]:
        with self._file.writing(patience=give_up_at - self._elapsed()) as db:
            expired = self._elapsed() >= give_up_at
            return [self._rule(db, bid, replica, expired) for bid in bids]

    def _rule(self, db: sqlite3.Connection, bid: Bid, replica: Replica, expired: bool) -> Answer:
        key = tick_key(replica.app, bid.tick)
        ruled = rule(
            rows.read_job(db, key[:2]),
            rows.read_tick(db, key),
            bid,
            now=self._now(),
            tolerance=self.tolerance,
            replica=replica,
            expired=expired,
        )
        rows.write(db, key, ruled.job, ruled.tick)
        return ruled.answer

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        await self._call(partial(self._release, releases, replica.app))

    def _release(self, releases: Sequence[Release], app: str) -> None:
        with self._file.writing() as db:
            for release in releases:
                key = tick_key(app, release.tick)
                job, tick = rows.read_job(db, key[:2]), rows.read_tick(db, key)
                rows.write(db, key, *end(job, tick, release, now=self._now()))

    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        return await self._call(partial(self._prune, app, keep, limit))

    def _prune(self, app: str, keep: timedelta, limit: int) -> int:
        try:
            with self._file.writing(patience=0) as db:
                old = rows.old_ticks(db, app, self._now() - keep // MICROSECOND, limit)
                rows.delete(db, old)
        except sqlite3.OperationalError as error:
            if is_busy(error):
                return 0  # somebody works in the file; what is old can wait
            raise
        return len(old)

    async def repair(self, *, app: str, job_id: str) -> bool:
        return await self._call(partial(self._repair, app, job_id))

    def _repair(self, app: str, job_id: str) -> bool:
        key = (app, job_id)
        with self._file.writing() as db:
            job = repair(rows.read_job(db, key), rows.ticks_of(db, key), now=self._now())
            rows.write(db, (*key, 0), job, None)
        return job is not None

    async def close(self) -> None:
        """Close the file when the statement in hand has ended. Asked anything later, it is opened again."""
        with self._clock.elsewhere():
            await self._thread.stop()

    async def _call(self, work: Callable[[], T]) -> T:
        with self._clock.elsewhere():
            return await self._thread.call(partial(self._told, work))

    def _told(self, work: Callable[[], T]) -> T:
        """What *work* returns; whatever keeps it from an answer is a ClaimFailed that says what to do."""
        try:
            return work()
        except _REFUSALS as error:
            raise ClaimFailed(f"{self.label}: {error}", ClaimFailure.REFUSED) from error
        except sqlite3.Error as error:
            raise ClaimFailed(f"{self.label}: {self._file.advice(error)}") from error
        except StoreUnusable as error:
            raise ClaimFailed(str(error)) from error

    def _now(self) -> int:
        return micros(self._clock.now())


def _checked_path(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not isinstance(name, str) or not name or name.startswith((":memory:", "file:")) or "\0" in name:
        raise InvalidSetting("path", path, "the path of a file", "MemoryStore() keeps claims in memory")
    return name
