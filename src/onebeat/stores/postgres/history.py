"""What did happen, read back from PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

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
from onebeat.model import Tick, Verdict, checked_instant
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
from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.history_sql import (
    AUDIT,
    COUNTS,
    JOBS,
    MARKS,
    REPLICAS,
    STORE_TIME,
    TICK,
    tally_sql,
    ticks_sql,
)
from onebeat.stores.postgres.history_wire import audit_record, job_state, marks, replica_state, tick_record
from onebeat.stores.postgres.wire import instant

_NEWEST = 2**63 - 1
"""Above the number of every audit row."""


class History(Asking):
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
        found = [tick_record(*row) for row in json.loads(await self._rows(sql, values))]
        return page(found, limit, tick_cursor)

    async def tick(self, tick: Tick, *, app: str) -> TickRecord | None:
        values = {
            "app": checked_text("app", app),
            "job_id": checked_text("job_id", tick.job_id),
            "at": tick.scheduled_at.isoformat(),
        }
        found = json.loads(await self._rows(TICK, values))
        return tick_record(*found[0]) if found else None

    async def marks(self, job_ids: Collection[str], *, app: str, each: int) -> Mapping[str, Sequence[Mark]]:
        ids = checked_ids(job_ids)
        values = {"app": checked_text("app", app), "job_ids": ids, "each": checked_each(each)}
        found = {job_id: marks(*told) for job_id, *told in json.loads(await self._rows(MARKS, values))}
        return {job_id: found.get(job_id, ()) for job_id in ids}

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
        rows = json.loads(
            await self._rows(JOBS, {"app": checked_text("app", app), "first": first, "last": last, **values})
        )
        return [job_state(*row) for row in rows]

    async def replicas(self, *, app: str) -> Sequence[ReplicaState]:
        values = {"app": checked_text("app", app), "of_late": OF_LATE.total_seconds()}
        return [replica_state(*row) for row in json.loads(await self._rows(REPLICAS, values))]

    async def audit(self, *, app: str, limit: int, after: str | None = None) -> Page[AuditRecord]:
        values = {
            "app": checked_text("app", app),
            "before": audit_after(after) or _NEWEST,
            "limit": checked_limit(limit) + 1,
        }
        found = [audit_record(*row) for row in json.loads(await self._rows(AUDIT, values))]
        return page(found, limit, audit_cursor)

    async def store_time(self) -> datetime:
        return instant(json.loads(await self._insist(STORE_TIME, "{}", makes=False) or ""))

    async def counts(self, *, app: str, since: datetime, until: datetime) -> dict[Verdict, int]:
        first, last = (checked_instant("counts", at).isoformat() for at in (since, until))
        rows = json.loads(
            await self._rows(COUNTS, {"app": checked_text("app", app), "since": first, "until": last})
        )
        return {Verdict(verdict): count for verdict, count in rows}

    async def tally(
        self, verdicts: Collection[Verdict], *, app: str, since: datetime, until: datetime, step: timedelta
    ) -> Sequence[Tally]:
        first, last = (checked_instant("tally", at) for at in (since, until))
        seconds = checked_step(step, first, last)
        checked_text("app", app)
        if not verdicts:
            return []
        sql = tally_sql(verdicts, first, last, seconds)
        rows = json.loads(await self._rows(sql, {"app": app}))
        return sorted(Tally(first + n * step, Verdict(verdict), count) for n, verdict, count in rows)

    async def _rows(self, sql: str, values: Mapping[str, object]) -> str:
        if not await self._has_tables():
            return "[]"
        return await self._insist(sql, json.dumps(values), makes=False) or "[]"
