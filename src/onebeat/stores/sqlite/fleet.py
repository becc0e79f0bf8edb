"""The heartbeat's side of the embedded stores."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from onebeat.fleet import Buried, Facts, Held, Pulse, Registered, Registration
from onebeat.model import Bid, Record, Replica, Tick
from onebeat.stores.ruling import (
    MICROSECOND,
    Circumstances,
    JobRow,
    TickKey,
    TickRow,
    instant,
    lose,
    micros,
    take_back,
    tick_key,
)
from onebeat.stores.sqlite import fleet_rows, rows
from onebeat.stores.sqlite.claiming import Claiming


class Beating(Claiming):
    """See FleetStore."""

    async def join(
        self, registrations: Sequence[Registration], *, replica: Replica, facts: Facts, now: datetime
    ) -> Sequence[Registered]:
        def work(db: sqlite3.Connection) -> Sequence[Registered]:
            at = self._now()
            fleet_rows.join(db, replica, facts, registrations, now=at, skew=_skew(now, at))
            return fleet_rows.register(db, replica.app, registrations, at)

        return await self._write(work)

    async def beat(self, *, replica: Replica, now: datetime, ttl: timedelta) -> Pulse:
        def work(db: sqlite3.Connection) -> Pulse:
            at = self._now()
            since = at - ttl // MICROSECOND
            skew = _skew(now, at)
            healthy_since = fleet_rows.beat(db, replica, now=at, since=since, skew=skew)
            living = fleet_rows.living(db, replica.app)
            return Pulse(
                store_time=instant(at),
                skew=skew,
                dead=healthy_since is None,
                healthy=healthy_since is not None and healthy_since <= since,
                suspects=min([*living.values(), *fleet_rows.unburied(db, replica.app)], default=since)
                < since,
                living=tuple(living),
                orders=fleet_rows.orders(db, replica),
                lapse_in=_lapse_in(living, replica, since),
            )

        return await self._write(work)

    async def bury(self, *, replica: Replica, ttl: timedelta) -> Sequence[Buried]:
        def work(db: sqlite3.Connection) -> Sequence[Buried]:
            now = self._now()
            fleet_rows.declare_dead(db, replica, now=now, since=now - ttl // MICROSECOND)
            return [_bury(db, key, replica, now) for key in fleet_rows.bury(db, replica.app, now=now)]

        return await self._write(work)

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        """What the database has never heard of is claimed once more, with the same tokens."""

        def work(db: sqlite3.Connection) -> Sequence[bool]:
            given = self._circumstances(db, replica, expired=False)
            return [self._take_back(db, claim, given) for claim in claims]

        return await self._write(work)

    def _take_back(self, db: sqlite3.Connection, claim: Held, given: Circumstances) -> bool:
        """Whether *claim* is this replica's still; lost meanwhile, it is taken up again."""
        key = tick_key(given.replica.app, claim.tick)
        job, row = rows.read_job(db, key[:2]), rows.read_tick(db, key)
        if row is None or row.token is None:
            return self._rule(db, Bid(claim.tick, claim.token, claim.lease), given).won
        kept = take_back(job, row, claim, replica=given.replica, now=given.now)
        if kept is not None:
            rows.write(db, key, *kept)
        return kept is not None

    async def record(self, records: Sequence[Record], *, replica: Replica) -> None:
        def work(db: sqlite3.Connection) -> None:
            for record in records:
                tick = record.tick.job_id, micros(record.tick.scheduled_at)
                fleet_rows.record(db, replica.app, tick, record.verdict.value, record.note)

        await self._write(work)

    async def leave(self, *, replica: Replica) -> None:
        await self._write(lambda db: fleet_rows.leave(db, replica, now=self._now()))

    async def asked(self, *, app: str) -> None:
        """Other processes cannot be heard: their requests are seen with the next beat."""
        await asyncio.get_running_loop().create_future()


def _bury(db: sqlite3.Connection, key: TickKey, judge: Replica, now: int) -> Buried:
    """What becomes of a claim that the dead left behind."""
    job, row = rows.read_job(db, key[:2]), rows.read_tick(db, key)
    lost = lose(job or JobRow(), row or TickRow(), judge=judge, scheduled_at=key[2], now=now)
    rows.write(db, key, *lost)
    return Buried(Tick(key[1], instant(key[2])), lost.tick.attempt)


def _skew(now: datetime, at: int) -> float:
    return (now - instant(at)).total_seconds()


def _lapse_in(living: Mapping[str, int], replica: Replica, since: int) -> float | None:
    """In how many seconds the other one who has been silent longest has lapsed."""
    beats = [beat_at for replica_id, beat_at in living.items() if replica_id != replica.id]
    return (min(beats) - since) / 1_000_000 if beats else None
