"""What people ask of the fleet, on PostgreSQL: each request with its audit row, in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from onebeat.control import (
    Target,
    checked_ahead,
    checked_ask,
    checked_until,
    run_in_words,
    unknown_job,
    withdrawal,
)
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import Tick, checked_name
from onebeat.stores.postgres.channel import channel_of
from onebeat.stores.postgres.durable import DURABLE
from onebeat.stores.postgres.history import History
from onebeat.stores.postgres.wire import instant

_TRIES = 5

_NOTED = """
, noted AS (
    INSERT INTO {audit} (app, action, target, asked_by, reason, until)
    SELECT app, ask->>'action', ask->>'target', ask->>'by', ask->>'reason', (ask->>'until')::timestamptz
      FROM asked
), told AS MATERIALIZED (
    SELECT pg_notify(ask->>'channel', '') FROM asked
)
"""
_PAUSE = (
    DURABLE
    + """
, paused AS (
    INSERT INTO {pauses} (app, scope, name, since, until, asked_by, reason)
    SELECT app, ask->>'scope', ask->>'name', clock_timestamp(),
           coalesce((ask->>'until')::timestamptz, 'infinity'), ask->>'by', ask->>'reason'
      FROM asked
    ON CONFLICT (app, scope, name) DO UPDATE
       SET since = excluded.since, until = excluded.until, asked_by = excluded.asked_by,
           reason = excluded.reason
)
"""
    + _NOTED
    + "SELECT count(*)::text FROM told"
)
_RESUME = (
    DURABLE
    + """
, resumed AS (
    UPDATE {pauses} AS pause
       SET until = clock_timestamp()
      FROM asked
     WHERE pause.app = asked.app AND pause.scope = ask->>'scope' AND pause.name = ask->>'name'
       AND pause.until > clock_timestamp()
    RETURNING 1
)
"""
    + _NOTED
    + "SELECT count(resumed.*)::text FROM told LEFT JOIN resumed ON true"
)
# After whatever was triggered before, taken up or not; on no whole second, where ticks of schedules lie.
# The job's row is locked first, so the clock is looked at when those who were before have gone.
_TRIGGER = (
    DURABLE
    + """
, job AS MATERIALIZED (
    SELECT job.app, job.job_id, job.triggered_at
      FROM {jobs} AS job JOIN asked ON job.app = asked.app AND job.job_id = ask->>'job_id'
       FOR UPDATE OF job
), free AS MATERIALIZED (
    SELECT job.app, job.job_id, min(candidate.at) AS at
      FROM job
     CROSS JOIN LATERAL (
           SELECT greatest(clock_timestamp(), job.triggered_at + interval '1 microsecond',
                           max(waiting.scheduled_at) + interval '1 microsecond') AS since
             FROM {ticks} AS waiting
            WHERE waiting.app = job.app AND waiting.job_id = job.job_id AND waiting.wanted = 'run'
           ) AS newest
     CROSS JOIN LATERAL (
           SELECT newest.since + place * interval '1 microsecond' AS at FROM generate_series(0, 9) AS place
           ) AS candidate
     WHERE date_trunc('second', candidate.at) <> candidate.at
       AND NOT EXISTS (SELECT FROM {ticks} AS tick
                        WHERE tick.app = job.app AND tick.job_id = job.job_id
                          AND tick.scheduled_at = candidate.at)
     GROUP BY job.app, job.job_id
), triggered AS (
    INSERT INTO {ticks} (app, job_id, scheduled_at, triggered, forced, asked_by, reason, wanted)
    SELECT free.app, free.job_id, free.at, true, (ask->>'force')::bool, ask->>'by', ask->>'reason', 'run'
      FROM free, asked
    ON CONFLICT (app, job_id, scheduled_at) DO NOTHING
    RETURNING scheduled_at
), noted AS (
    INSERT INTO {audit} (app, action, target, asked_by, reason)
    SELECT app, ask->>'action', ask->>'target', ask->>'by', ask->>'reason' FROM asked, triggered
), told AS MATERIALIZED (
    SELECT pg_notify(ask->>'channel', '') FROM asked
)
SELECT json_build_array(EXISTS (SELECT FROM job), (SELECT scheduled_at FROM triggered))::text FROM told
"""
)
_CANCEL = (
    DURABLE
    + """
, job AS MATERIALIZED (
    SELECT job.app, job.job_id
      FROM {jobs} AS job JOIN asked ON job.app = asked.app AND job.job_id = ask->>'job_id'
       FOR UPDATE OF job
), cancelled AS (
    UPDATE {ticks} AS tick
       SET note = ask->>'note',
           wanted = CASE WHEN tick.token IS NOT NULL THEN 'cancel' END,
           verdict = CASE WHEN tick.token IS NULL THEN 'cancelled' ELSE tick.verdict END,
           provisional = tick.token IS NOT NULL AND tick.provisional
      FROM job, asked
     WHERE tick.app = job.app AND tick.job_id = job.job_id
       AND (ask->>'at' IS NULL OR tick.scheduled_at = (ask->>'at')::timestamptz)
       AND (tick.token IS NOT NULL AND tick.released_at IS NULL
            OR tick.token IS NULL AND tick.wanted = 'run')
    RETURNING tick.scheduled_at
)
"""
    + _NOTED
    + """
SELECT coalesce((SELECT json_agg(scheduled_at ORDER BY scheduled_at) FROM cancelled), '[]')::text FROM told
"""
)


class Control(History):
    """See FleetControl."""

    async def pause(self, target: Target, *, app: str, by: str, reason: str, until: datetime | None) -> None:
        checked_ask(by, reason)
        ends = checked_until(until)
        if ends is not None:
            checked_ahead(ends, now=await self.store_time())
        where = {"scope": target.scope, "name": target.name, "until": ends and ends.isoformat()}
        await self._ask_fleet(_PAUSE, app, by, reason, action="pause", target=str(target), **where)

    async def resume(self, target: Target, *, app: str, by: str, reason: str) -> bool:
        checked_ask(by, reason)
        where = {"scope": target.scope, "name": target.name}
        return (
            await self._ask_fleet(_RESUME, app, by, reason, action="resume", target=str(target), **where)
            != "0"
        )

    async def trigger(self, job_id: str, *, app: str, by: str, reason: str, force: bool) -> Tick:
        checked_name("job_id", job_id)
        checked_ask(by, reason)
        target = str(Target(job_id=job_id))
        for _ in range(_TRIES):
            told = await self._ask_fleet(
                _TRIGGER, app, by, reason, action="trigger", target=target, job_id=job_id, force=bool(force)
            )
            known, at = json.loads(told)
            if not known:
                raise unknown_job(job_id)
            if at is not None:
                return Tick(job_id, instant(at))
        raise ClaimFailed("others trigger this job all the time", ClaimFailure.CONFLICT)

    async def cancel(
        self, job_id: str, *, app: str, by: str, reason: str, scheduled_at: datetime | None
    ) -> Sequence[Tick]:
        checked_name("job_id", job_id)
        checked_ask(by, reason)
        at = None if scheduled_at is None else Tick(job_id, scheduled_at).scheduled_at
        told = await self._ask_fleet(
            _CANCEL,
            app,
            by,
            reason,
            action="cancel",
            target=run_in_words(job_id, at),
            job_id=job_id,
            at=at and at.isoformat(),
            note=withdrawal(by, reason),
        )
        return [Tick(job_id, instant(found)) for found in json.loads(told)]

    async def _ask_fleet(self, sql: str, app: str, by: str, reason: str, **more: object) -> str:
        ask = {"app": app, "channel": channel_of(app), "by": by, "reason": reason, **more}
        return await self._insist(sql, json.dumps(ask), "[]") or ""
