"""The rows of replicas, and what is asked of them, in and out of the tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from onebeat.fleet import Facts, Order, Registered, Registration
from onebeat.model import Replica, Tick, Wanted
from onebeat.stores.ruling import JobRow, TickKey, instant, instant_or_none
from onebeat.stores.sqlite import rows
from onebeat.stores.sqlite.rows import pauses_of

_LIVING = "SELECT replica_id, beat_at FROM onebeat_replicas WHERE app = ? AND dead_at IS NULL"
_REGISTER = """
INSERT INTO onebeat_jobs (app, job_id, schedule, fingerprint, first_seen, changed_at)
VALUES (:app, :job_id, :schedule, :instants, :now, :now)
ON CONFLICT (app, job_id) DO UPDATE
   SET changed_at = CASE WHEN schedule <> excluded.schedule THEN excluded.changed_at ELSE changed_at END,
       schedule = excluded.schedule,
       fingerprint = excluded.fingerprint
 WHERE schedule IS NOT excluded.schedule OR fingerprint IS NOT excluded.fingerprint
"""
_JOBS_OF = "SELECT jobs FROM onebeat_replicas WHERE app = ? AND replica_id = ?"
# A dead replica's row stays dead: joining is no way back to life (F-JUDGE).
_JOIN = """
INSERT INTO onebeat_replicas
       (app, replica_id, label, started_at, beat_at, healthy_since, version, zone_data, pid, skew, jobs)
VALUES (:app, :replica_id, :label, :now, :now, :now, :version, :zone_data, :pid, :skew, :jobs)
ON CONFLICT (app, replica_id) DO UPDATE
   SET label = excluded.label,
       version = excluded.version,
       zone_data = excluded.zone_data,
       pid = excluded.pid,
       skew = excluded.skew,
       jobs = excluded.jobs
"""
_BEAT = """
UPDATE onebeat_replicas
   SET healthy_since = CASE WHEN beat_at < :since THEN :now ELSE healthy_since END,
       beat_at = :now,
       skew = :skew
 WHERE app = :app AND replica_id = :replica_id AND dead_at IS NULL
"""
_HEALTHY_SINCE = """
SELECT healthy_since, beat_at
  FROM onebeat_replicas
 WHERE app = ? AND replica_id = ? AND dead_at IS NULL
"""
_DECLARE_DEAD = """
UPDATE onebeat_replicas
   SET dead_at = :now
 WHERE app = :app AND dead_at IS NULL AND beat_at < :since
"""
# Its last beat is its leaving: so it is told from one that was declared dead.
_LEAVE = """
UPDATE onebeat_replicas
   SET dead_at = :now,
       beat_at = :now
 WHERE app = :app AND replica_id = :replica_id AND dead_at IS NULL
"""
_UNBURIED = "SELECT dead_at FROM onebeat_replicas WHERE app = ? AND dead_at IS NOT NULL AND buried_at IS NULL"
_LEFT_BEHIND = """
SELECT app, job_id, scheduled_at
  FROM onebeat_ticks
 WHERE app = :app AND released_at IS NULL AND token IS NOT NULL
   AND holder IN (SELECT replica_id
                    FROM onebeat_replicas
                   WHERE app = :app AND dead_at IS NOT NULL AND buried_at IS NULL)
 ORDER BY job_id, scheduled_at
"""
_BURIED = """
UPDATE onebeat_replicas
   SET buried_at = :now
 WHERE app = :app AND dead_at IS NOT NULL AND buried_at IS NULL
"""
# The index of the few that are wanted, by name: for the order alone the planner would walk all by their age.
_WANTED = """
SELECT tick.wanted, tick.job_id, tick.scheduled_at, tick.token, tick.attempt, tick.forced, tick.asked_by,
       CASE tick.wanted WHEN 'cancel' THEN tick.note ELSE tick.reason END
  FROM onebeat_ticks AS tick INDEXED BY onebeat_ticks_wanted
 WHERE tick.app = :app AND tick.wanted IS NOT NULL
   AND CASE tick.wanted
           WHEN 'run' THEN tick.token IS NULL
           WHEN 'cancel' THEN tick.holder = :replica_id AND tick.released_at IS NULL
           ELSE (SELECT watermark FROM onebeat_jobs AS job
                  WHERE job.app = tick.app AND job.job_id = tick.job_id) = tick.scheduled_at END
 ORDER BY tick.scheduled_at
 LIMIT 1000
"""
_RECORD = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, verdict, note, provisional)
VALUES (:app, :job_id, :scheduled_at, :verdict, :note, :provisional)
ON CONFLICT (app, job_id, scheduled_at) DO UPDATE
   SET verdict = excluded.verdict, note = excluded.note
 WHERE token IS NULL AND verdict IS NOT NULL AND provisional AND excluded.verdict <> 'missed'
"""


def register(
    db: sqlite3.Connection, app: str, registrations: Sequence[Registration], now: int
) -> list[Registered]:
    """Write the jobs that are new or have changed; what is known of each."""
    named = [
        {"app": app, "now": now, "job_id": one.job_id, "schedule": one.schedule, "instants": one.instants}
        for one in registrations
    ]
    db.executemany(_REGISTER, named)
    pauses = pauses_of(db, app, now=now)
    known = [(one.job_id, rows.read_job(db, (app, one.job_id)) or JobRow()) for one in registrations]
    return [
        Registered(
            job_id,
            instant_or_none(job.watermark),
            instant(job.owed_since(pauses.ended(job_id))),
        )
        for job_id, job in known
    ]


def join(
    db: sqlite3.Connection,
    replica: Replica,
    facts: Facts,
    registrations: Sequence[Registration],
    *,
    now: int,
    skew: float,
) -> None:
    """Write the replica's row, with these jobs beside those it had."""
    had = db.execute(_JOBS_OF, (replica.app, replica.id)).fetchone()
    jobs = json.loads(had[0]) if had else {}
    jobs |= {registration.job_id: registration.instants for registration in registrations}
    db.execute(
        _JOIN,
        _named(replica, now=now, skew=skew)
        | {"label": replica.label, "version": facts.version, "zone_data": facts.zone_data, "pid": facts.pid}
        | {"jobs": json.dumps(jobs)},
    )


def beat(db: sqlite3.Connection, replica: Replica, *, now: int, since: int, skew: float) -> int | None:
    """Renew the row; since when it has beaten without a gap, None when it was declared dead, or is gone."""
    db.execute(_BEAT, _named(replica, now=now, skew=skew) | {"since": since})
    found = db.execute(_HEALTHY_SINCE, (replica.app, replica.id)).fetchone()
    return None if found is None else int(found[0])


def living(db: sqlite3.Connection, app: str) -> dict[str, int]:
    """When each of those not declared dead last beat."""
    return dict(db.execute(_LIVING, (app,)))


def declare_dead(db: sqlite3.Connection, judge: Replica, *, now: int, since: int) -> None:
    """Whoever has not beaten since then, provided that the judge itself has, all along (F-JUDGE)."""
    found = db.execute(_HEALTHY_SINCE, (judge.app, judge.id)).fetchone()
    if found is not None and found[0] <= since <= found[1]:
        db.execute(_DECLARE_DEAD, {"app": judge.app, "now": now, "since": since})


def leave(db: sqlite3.Connection, replica: Replica, *, now: int) -> None:
    """It is dead from now on: what it holds nevertheless is lost like that of any other."""
    db.execute(_LEAVE, {"app": replica.app, "replica_id": replica.id, "now": now})


def unburied(db: sqlite3.Connection, app: str) -> list[int]:
    """When those died whose claims nobody has looked at yet."""
    return [dead_at for (dead_at,) in db.execute(_UNBURIED, (app,))]


def bury(db: sqlite3.Connection, app: str, *, now: int) -> Sequence[TickKey]:
    """The claims that the dead have left behind. Nothing is won by the dead, so these are the last."""
    if not unburied(db, app):
        return []  # to look for nothing through all ticks would take a while
    left_behind = db.execute(_LEFT_BEHIND, {"app": app}).fetchall()
    db.execute(_BURIED, {"app": app, "now": now})
    return left_behind


def orders(db: sqlite3.Connection, replica: Replica) -> tuple[Order, ...]:
    """What this replica may take up, the oldest first."""
    wanted = db.execute(_WANTED, {"app": replica.app, "replica_id": replica.id})
    return tuple(_order(*row) for row in wanted)


def record(db: sqlite3.Connection, app: str, tick: tuple[str, int], verdict: str, note: str | None) -> None:
    job_id, at = tick
    values = {"app": app, "job_id": job_id, "scheduled_at": at, "verdict": verdict, "note": note}
    db.execute(_RECORD, values | {"provisional": verdict != "missed"})


def _order(
    wanted: str,
    job_id: str,
    at: int,
    token: str | None,
    attempt: int,
    forced: int,
    asked_by: str | None,
    reason: str | None,
) -> Order:
    kind = Wanted(wanted)
    return Order(
        kind,
        Tick(job_id, instant(at)),
        token if kind is Wanted.CANCEL else None,
        attempt + 1 if kind is Wanted.RERUN else attempt,
        bool(forced),
        asked_by,
        reason,
    )


def _named(replica: Replica, *, now: int, skew: float) -> dict[str, object]:
    return {"app": replica.app, "replica_id": replica.id, "now": now, "skew": skew}
