"""The claims' side of an embedded store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import timedelta

from onebeat.clock import SystemClock
from onebeat.errors import ClaimFailed
from onebeat.model import Answer, Bid, Release, Replica
from onebeat.stores.ruling import Circumstances, end, micros, repair, rule, tick_key
from onebeat.stores.sqlite import rows
from onebeat.stores.sqlite.embedded import Embedded
from onebeat.stores.sqlite.file import is_busy
from onebeat.stores.sqlite.pruning import Pruning

_DEAD = "SELECT replica_id FROM onebeat_replicas WHERE app = ? AND dead_at IS NOT NULL"
_MISSED = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, verdict, provisional, note)
VALUES (?, ?, ?, 'missed', 0, ?)
ON CONFLICT DO NOTHING
"""

# Waiting for others takes real time, whatever a fake clock shows.
_elapsed = SystemClock().monotonic


class Claiming(Embedded):
    """See ClaimStore."""

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        give_up_at = _elapsed() + timeout.total_seconds()

        def work(db: sqlite3.Connection) -> Sequence[Answer]:
            given = self._circumstances(db, replica, expired=_elapsed() >= give_up_at)
            return [self._rule(db, bid, given) for bid in bids]

        return await self._write(work, timeout=timeout)

    def _circumstances(self, db: sqlite3.Connection, replica: Replica, *, expired: bool) -> Circumstances:
        now = self._now()
        return Circumstances(
            now=now,
            tolerance=self.tolerance,
            replica=replica,
            dead=frozenset(replica_id for (replica_id,) in db.execute(_DEAD, (replica.app,))),
            pauses=rows.pauses_of(db, replica.app, now=now),
            expired=expired,
        )

    def _rule(self, db: sqlite3.Connection, bid: Bid, given: Circumstances) -> Answer:
        key = tick_key(given.replica.app, bid.tick)
        ruled = rule(rows.read_job(db, key[:2]), rows.read_tick(db, key), bid, given)
        rows.write(db, key, ruled.job, ruled.tick)
        return ruled.answer

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        await self._write(lambda db: self._release(db, releases, replica))

    def _release(self, db: sqlite3.Connection, releases: Iterable[Release], replica: Replica) -> None:
        for release in releases:
            key = tick_key(replica.app, release.tick)
            ended = end(rows.read_job(db, key[:2]), rows.read_tick(db, key), release, now=self._now())
            if ended is not None:
                rows.write(db, key, *ended)
                missed = [(*key[:2], micros(instant), replica.label) for instant in release.missed]
                db.executemany(_MISSED, missed)

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        pruning = Pruning(app, self._now(), keep, most, limit)
        found = await self._read(pruning.find)
        try:
            return await self._write(lambda db: pruning.delete(db, found), timeout=timedelta(0))
        except ClaimFailed as error:
            if isinstance(error.__cause__, sqlite3.Error) and is_busy(error.__cause__):
                return 0  # somebody works in the file; what is old can wait
            raise

    async def repair(self, *, app: str, job_id: str) -> bool:
        return await self._write(lambda db: self._repair(db, (app, job_id)))

    def _repair(self, db: sqlite3.Connection, key: tuple[str, str]) -> bool:
        job = repair(rows.read_job(db, key), rows.ticks_of(db, key), now=self._now())
        if job is not None:
            rows.write_job(db, key, job)
        return job is not None
