"""Claims in this process's memory: for tests, and for several schedulers in one process (D-MEM)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from threading import Lock

from onebeat.clock import Clock, SystemClock
from onebeat.model import Answer, Bid, Release, Replica, checked_duration
from onebeat.stores.ruling import (
    MICROSECOND,
    JobKey,
    JobRow,
    TickKey,
    TickRow,
    end,
    micros,
    repair,
    rule,
    tick_key,
)


class MemoryStore:
    """Forgets everything when the process ends, and is seen by nobody outside it.

    Safe from several threads and loops. A tick later than *clock* by more than *tolerance* is refused
    as early (C-EARLY).
    """

    label = "memory"
    loop_bound = None

    def __init__(self, *, clock: Clock | None = None, tolerance: float | timedelta = 5) -> None:
        self._clock = clock or SystemClock()
        self.tolerance = checked_duration("tolerance", tolerance)
        self._lock = Lock()
        self._jobs: dict[JobKey, JobRow] = {}
        self._ticks: dict[TickKey, TickRow] = {}

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        arrived = self._clock.monotonic()
        with self._lock:
            expired = self._clock.monotonic() - arrived >= timeout.total_seconds()
            return [self._rule(bid, replica, expired) for bid in bids]

    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        key = tick_key(replica.app, bid.tick)
        ruled = rule(
            self._jobs.get(key[:2]),
            self._ticks.get(key),
            bid,
            now=self._now(),
            tolerance=self.tolerance,
            replica=replica,
            expired=expired,
        )
        self._write(key, ruled.job, ruled.tick)
        return ruled.answer

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        with self._lock:
            for release in releases:
                key = tick_key(replica.app, release.tick)
                self._write(
                    key, *end(self._jobs.get(key[:2]), self._ticks.get(key), release, now=self._now())
                )

    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        with self._lock:
            young = self._now() - keep // MICROSECOND
            old = sorted(
                (key[2], key)
                for key, tick in self._ticks.items()
                if key[0] == app and key[2] < young and tick.ended
            )[:limit]
            for scheduled_at, key in old:
                self._jobs[key[:2]] = self._jobs[key[:2]].above(scheduled_at)
                del self._ticks[key]
        return len(old)

    async def repair(self, *, app: str, job_id: str) -> bool:
        with self._lock:
            ticks = {key[2]: tick for key, tick in self._ticks.items() if key[:2] == (app, job_id)}
            job = repair(self._jobs.get((app, job_id)), ticks, now=self._now())
            if job is not None:
                self._jobs[app, job_id] = job
        return job is not None

    async def close(self) -> None:
        """Nothing was opened; what was claimed stays claimed."""

    def _now(self) -> int:
        return micros(self._clock.now())

    def _write(self, key: TickKey, job: JobRow | None, tick: TickRow | None) -> None:
        if job is not None:
            self._jobs[key[:2]] = job
        if tick is not None:
            self._ticks[key] = tick
