"""What did happen, read back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from onebeat.history import (
    OF_LATE,
    AuditRecord,
    JobState,
    Mark,
    Order,
    Page,
    ReplicaState,
    Tally,
    TickFilter,
    TickRecord,
    checked_text,
)
from onebeat.model import Tick, Verdict, Wanted, checked_instant
from onebeat.paging import (
    audit_after,
    audit_cursor,
    checked_each,
    checked_ids,
    checked_limit,
    checked_step,
    job_after,
    job_cursor,
    page,
    prefix_range,
    tick_after,
    tick_cursor,
)
from onebeat.stores.ruling import MICROSECOND, instant, micros
from onebeat.stores.sqlite.embedded import Embedded
from onebeat.stores.sqlite.history_sql import AUDIT, COUNTS, JOBS, MARKS, REPLICAS, TICK, tally_sql, ticks_sql

_NEWEST = 2**63 - 1
"""Above the number of every audit row."""

Values = dict[str, object]


def ticks(db: sqlite3.Connection, sql: str, values: Values) -> Sequence[TickRecord]:
    return [_tick_record(row) for row in db.execute(sql, values)]


def marks(db: sqlite3.Connection, values: Values) -> Sequence[Mark]:
    found = [_mark(*row) for row in db.execute(MARKS, values)]
    found.reverse()
    return found


def jobs(db: sqlite3.Connection, values: Values) -> Sequence[JobState]:
    return [_job_state(row) for row in db.execute(JOBS, values)]


def replicas(db: sqlite3.Connection, values: Values) -> Sequence[ReplicaState]:
    return [_replica_state(row) for row in db.execute(REPLICAS, values)]


def audit(db: sqlite3.Connection, values: Values) -> Sequence[AuditRecord]:
    return [_audit_record(row) for row in db.execute(AUDIT, values)]


def counts(db: sqlite3.Connection, values: Values) -> dict[Verdict, int]:
    return {Verdict(verdict): count for verdict, count in db.execute(COUNTS, values)}


def _tick_record(row: Sequence[Any]) -> TickRecord:
    job_id, at, verdict, provisional, replica, replica_id, attempt, fence, *times = row[:11]
    note, trace_id, wanted, triggered, by, reason = row[11:]
    claimed_at, started_at, finished_at = map(_when, times)
    return TickRecord(
        tick=Tick(job_id, instant(at)),
        verdict=verdict and Verdict(verdict),
        provisional=bool(provisional),
        replica=replica,
        replica_id=replica_id,
        attempt=attempt,
        fence=fence,
        claimed_at=claimed_at,
        started_at=started_at,
        finished_at=finished_at,
        note=note,
        trace_id=trace_id,
        wanted=wanted and Wanted(wanted),
        triggered=bool(triggered),
        by=by,
        reason=reason,
    )


def _mark(at: int, verdict: str | None, late: int | None, took: int | None) -> Mark:
    return Mark(instant(at), None if verdict is None else Verdict(verdict), _seconds(late), _seconds(took))


def _job_state(row: Sequence[Any]) -> JobState:
    job_id, schedule, watermark, first_seen, owed, holder, lease, paused, last, success, failures = row
    return JobState(
        job_id=job_id,
        schedule=schedule,
        watermark=_when(watermark),
        first_seen=instant(first_seen),
        owed_since=instant(owed),
        holder=holder,
        lease_until=_when(lease),
        paused_until=_when(paused),
        last_verdict=last and Verdict(last),
        last_success_at=_when(success),
        failures=failures,
    )


def _replica_state(row: Sequence[Any]) -> ReplicaState:
    id_, label, version, zone_data, pid, started_at, beat_at, healthy_since, dead_at, skew, jobs_ = row
    return ReplicaState(
        id=id_,
        label=label,
        version=version,
        zone_data=zone_data,
        pid=pid,
        started_at=instant(started_at),
        beat_at=instant(beat_at),
        healthy_since=instant(healthy_since),
        dead_at=_when(dead_at),
        skew=skew,
        jobs=json.loads(jobs_),
    )


def _audit_record(row: Sequence[Any]) -> AuditRecord:
    number, at, action, target, by, reason, until = row
    return AuditRecord(number, instant(at), action, target, by, reason, _when(until))


def _seconds(micros_: int | None) -> float | None:
    return None if micros_ is None else micros_ / 1_000_000


def _when(micros_: int | None) -> datetime | None:
    return None if micros_ is None else instant(micros_)


class History(Embedded):
    """See RunHistory."""

    async def ticks(
        self,
        which: TickFilter,
        *,
        app: str,
        limit: int,
        after: str | None = None,
        order: Order = Order.NEWEST_FIRST,
    ) -> Page[TickRecord]:
        sql, values = ticks_sql(which, tick_after(after), order)
        values |= {"app": checked_text("app", app), "limit": checked_limit(limit) + 1}
        return page(await self._read(lambda db: ticks(db, sql, values)), limit, tick_cursor)

    async def tick(self, tick: Tick, *, app: str) -> TickRecord | None:
        values: Values = {
            "app": checked_text("app", app),
            "job_id": checked_text("job_id", tick.job_id),
            "at": micros(tick.scheduled_at),
        }
        found = await self._read(lambda db: ticks(db, TICK, values))
        return found[0] if found else None

    async def marks(self, job_ids: Collection[str], *, app: str, each: int) -> Mapping[str, Sequence[Mark]]:
        ids = checked_ids(job_ids)
        values: Values = {"app": checked_text("app", app), "each": checked_each(each)}
        return await self._read(lambda db: {job_id: marks(db, values | {"job_id": job_id}) for job_id in ids})

    async def jobs(
        self, *, app: str, prefix: str = "", limit: int, after: str | None = None
    ) -> Page[JobState]:
        seen = job_after(after) or ""
        found = await self._jobs(
            *prefix_range(checked_text("prefix", prefix)), app=app, after=seen, limit=checked_limit(limit) + 1
        )
        return page(found, limit, job_cursor)

    async def job(self, job_id: str, *, app: str) -> JobState | None:
        only = checked_text("job_id", job_id)
        found = await self._jobs(only, only, app=app, after="", limit=1)
        return found[0] if found else None

    async def _jobs(self, first: str, last: str, *, app: str, **values: object) -> Sequence[JobState]:
        values |= {"app": checked_text("app", app), "first": first, "last": last, "now": self._now()}
        return await self._read(lambda db: jobs(db, values))

    async def replicas(self, *, app: str) -> Sequence[ReplicaState]:
        values: Values = {"app": checked_text("app", app), "died_after": self._now() - OF_LATE // MICROSECOND}
        return await self._read(lambda db: replicas(db, values))

    async def audit(self, *, app: str, limit: int, after: str | None = None) -> Page[AuditRecord]:
        values: Values = {
            "app": checked_text("app", app),
            "before": audit_after(after) or _NEWEST,
            "limit": checked_limit(limit) + 1,
        }
        return page(await self._read(lambda db: audit(db, values)), limit, audit_cursor)

    async def store_time(self) -> datetime:
        return self._clock.now()

    async def counts(self, *, app: str, since: datetime, until: datetime) -> dict[Verdict, int]:
        first, last = (micros(checked_instant("counts", at)) for at in (since, until))
        values: Values = {"app": checked_text("app", app), "since": first, "until": last}
        return await self._read(lambda db: counts(db, values))

    async def tally(
        self, verdicts: Collection[Verdict], *, app: str, since: datetime, until: datetime, step: timedelta
    ) -> Sequence[Tally]:
        first, last = (checked_instant("tally", at) for at in (since, until))
        checked_step(step, first, last)
        sql, values = tally_sql(verdicts)
        values |= {"app": checked_text("app", app), "step": step // MICROSECOND}
        values |= {"since": micros(first), "until": micros(last)}
        rows = await self._read(lambda db: db.execute(sql, values).fetchall())
        return sorted(Tally(first + n * step, Verdict(verdict), count) for n, verdict, count in rows)
