"""What people ask of the fleet: each request with its audit row, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
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
from onebeat.history import END_OF_TIME
from onebeat.model import Tick, checked_name
from onebeat.stores.ruling import instant, micros
from onebeat.stores.sqlite.embedded import Embedded

_AUDIT = """
INSERT INTO onebeat_audit (app, at, action, target, asked_by, reason, until)
VALUES (:app, :now, :action, :target, :by, :reason, :until)
"""
_PAUSE = """
INSERT INTO onebeat_pauses (app, scope, name, since, until, asked_by, reason)
VALUES (:app, :scope, :name, :now, :until, :by, :reason)
ON CONFLICT (app, scope, name) DO UPDATE
   SET since = excluded.since,
       until = excluded.until,
       asked_by = excluded.asked_by,
       reason = excluded.reason
"""
_RESUME = """
UPDATE onebeat_pauses
   SET until = :now
 WHERE app = :app AND scope = :scope AND name = :name AND until > :now
"""
# After whatever was triggered before, taken up or not: triggers are claimed in ascending order.
_NEWEST_TRIGGER = """
SELECT max(coalesce(triggered_at, 0),
           (SELECT coalesce(max(scheduled_at), 0)
              FROM onebeat_ticks
             WHERE app = :app AND job_id = :job_id AND wanted = 'run'))
  FROM onebeat_jobs
 WHERE app = :app AND job_id = :job_id
"""
_HAS_ROW = "SELECT 1 FROM onebeat_ticks WHERE app = :app AND job_id = :job_id AND scheduled_at = :at"
_TRIGGER = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, triggered, forced, asked_by, reason, wanted)
VALUES (:app, :job_id, :at, 1, :force, :by, :reason, 'run')
"""
_WITHIN = "app = :app AND job_id = :job_id AND (:at IS NULL OR scheduled_at = :at)"
_CANCELLABLE = f"""
SELECT scheduled_at
  FROM onebeat_ticks
 WHERE {_WITHIN}
   AND (token IS NOT NULL AND released_at IS NULL OR token IS NULL AND wanted = 'run')
 ORDER BY scheduled_at
"""
_WITHDRAW = f"""
UPDATE onebeat_ticks
   SET verdict = 'cancelled', provisional = 0, note = :note, wanted = NULL
 WHERE {_WITHIN} AND token IS NULL AND wanted = 'run'
"""
_CANCEL = f"""
UPDATE onebeat_ticks
   SET wanted = 'cancel', note = :note
 WHERE {_WITHIN} AND token IS NOT NULL AND released_at IS NULL
"""
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: in which app, when, by whom and why."""

    app: str
    now: int
    by: str
    reason: str

    def values(self, **more: object) -> dict[str, object]:
        return {"app": self.app, "now": self.now, "by": self.by, "reason": self.reason, **more}


def pause(db: sqlite3.Connection, ask: Ask, target: Target, until: datetime | None) -> None:
    ends = micros(until or END_OF_TIME)
    db.execute(_PAUSE, ask.values(scope=target.scope, name=target.name, until=ends))
    _note(db, ask, "pause", str(target), until)


def resume(db: sqlite3.Connection, ask: Ask, target: Target) -> bool:
    ended = db.execute(_RESUME, ask.values(scope=target.scope, name=target.name))
    _note(db, ask, "resume", str(target))
    return ended.rowcount > 0


def trigger(db: sqlite3.Connection, ask: Ask, job_id: str, force: bool) -> int:
    """The instant of the row that now waits for a holder."""
    values = ask.values(job_id=job_id, force=force)
    known = db.execute(_NEWEST_TRIGGER, values).fetchone()
    if known is None:
        raise unknown_job(job_id)
    at: int = max(ask.now, known[0] + 1)
    # Ticks of schedules lie on whole seconds: none of them must find its place taken.
    while at % _SECOND == 0 or db.execute(_HAS_ROW, {**values, "at": at}).fetchone():
        at += 1
    db.execute(_TRIGGER, {**values, "at": at})
    _note(db, ask, "trigger", str(Target(job_id=job_id)))
    return at


def cancel(db: sqlite3.Connection, ask: Ask, job_id: str, scheduled_at: datetime | None) -> Sequence[int]:
    """The instants of what is to be cancelled, and of what is by now."""
    at = None if scheduled_at is None else micros(scheduled_at)
    values = ask.values(job_id=job_id, at=at, note=withdrawal(ask.by, ask.reason))
    found = [row[0] for row in db.execute(_CANCELLABLE, values)]
    db.execute(_WITHDRAW, values)
    db.execute(_CANCEL, values)
    _note(db, ask, "cancel", run_in_words(job_id, scheduled_at))
    return found


def _note(db: sqlite3.Connection, ask: Ask, action: str, target: str, until: datetime | None = None) -> None:
    ends = None if until is None else micros(until)
    db.execute(_AUDIT, ask.values(action=action, target=target, until=ends))


class Control(Embedded):
    """See FleetControl."""

    async def pause(self, target: Target, *, app: str, by: str, reason: str, until: datetime | None) -> None:
        checked_ask(by, reason)
        ends = checked_until(until)
        checked_ahead(ends, now=instant(self._now()))
        await self._write(lambda db: pause(db, self._ask(app, by, reason), target, ends))

    async def resume(self, target: Target, *, app: str, by: str, reason: str) -> bool:
        checked_ask(by, reason)
        return await self._write(lambda db: resume(db, self._ask(app, by, reason), target))

    async def trigger(self, job_id: str, *, app: str, by: str, reason: str, force: bool) -> Tick:
        checked_name("job_id", job_id)
        checked_ask(by, reason)
        at = await self._write(lambda db: trigger(db, self._ask(app, by, reason), job_id, force))
        self._wake()
        return Tick(job_id, instant(at))

    async def cancel(
        self, job_id: str, *, app: str, by: str, reason: str, scheduled_at: datetime | None
    ) -> Sequence[Tick]:
        checked_name("job_id", job_id)
        checked_ask(by, reason)
        at = None if scheduled_at is None else Tick(job_id, scheduled_at).scheduled_at
        found = await self._write(lambda db: cancel(db, self._ask(app, by, reason), job_id, at))
        self._wake()
        return [Tick(job_id, instant(micros_)) for micros_ in found]

    def _ask(self, app: str, by: str, reason: str) -> Ask:
        """Made once the database is ours: what waited for it must not be dated before what went first."""
        return Ask(app, self._now(), by, reason)
