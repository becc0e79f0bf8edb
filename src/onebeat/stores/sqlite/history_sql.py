"""How the history is asked for. The columns stand in the order of the records' fields."""

from __future__ import annotations

from collections.abc import Collection

from onebeat.history import Order, TickFilter
from onebeat.model import Tick, Verdict
from onebeat.paging import prefix_range
from onebeat.stores.ruling import micros

_TICKS = """
SELECT job_id, scheduled_at, verdict, verdict IS NOT NULL AND provisional, claimed_by, holder, attempt, fence,
       claimed_at, started_at, finished_at, note, trace_id, wanted, triggered, asked_by, reason
  FROM onebeat_ticks
 WHERE app = :app
"""
TICK = _TICKS + " AND job_id = :job_id AND scheduled_at = :at"
MARKS = """
SELECT scheduled_at, verdict, started_at - scheduled_at, finished_at - started_at
  FROM onebeat_ticks
 WHERE app = :app AND job_id = :job_id
 ORDER BY scheduled_at DESC
 LIMIT :each
"""

_COVERS = """p.app = j.app AND (p.scope = 'job' AND p.name = j.job_id
                            OR p.scope = 'prefix' AND p.name = substr(j.job_id, 1, length(p.name)))"""
# What a job's holder is called stands at its claim, mostly the job's newest row.
JOBS = f"""
WITH j AS (
    SELECT *, lease_until > :now AND released_at IS NULL
              AND NOT EXISTS (SELECT 1
                                FROM onebeat_replicas r
                               WHERE r.app = b.app AND r.replica_id = b.holder AND r.dead_at IS NOT NULL
                             ) AS blocked
      FROM onebeat_jobs b
     WHERE app = :app AND job_id BETWEEN :first AND :last AND job_id > :after
     ORDER BY job_id
     LIMIT :limit
)
SELECT job_id, schedule, watermark, first_seen,
       max(changed_at,
           (SELECT coalesce(max(until), 0) FROM onebeat_pauses p WHERE {_COVERS} AND until <= :now)),
       CASE WHEN blocked THEN coalesce((SELECT claimed_by
                                          FROM onebeat_ticks t
                                         WHERE t.app = j.app AND t.job_id = j.job_id AND t.token = j.token
                                         ORDER BY scheduled_at DESC
                                         LIMIT 1), holder) END,
       CASE WHEN blocked THEN lease_until END,
       (SELECT max(until) FROM onebeat_pauses p WHERE {_COVERS} AND until > :now),
       last_verdict, last_success_at, failures
  FROM j
 ORDER BY job_id
"""
REPLICAS = """
SELECT replica_id, label, version, zone_data, pid, started_at, beat_at, healthy_since, dead_at, skew, jobs
  FROM onebeat_replicas
 WHERE app = :app AND (dead_at IS NULL OR dead_at > :died_after)
 ORDER BY dead_at IS NOT NULL, started_at, replica_id
"""
AUDIT = """
SELECT number, at, action, target, asked_by, reason, until
  FROM onebeat_audit
 WHERE app = :app AND number < :before
 ORDER BY number DESC
 LIMIT :limit
"""
COUNTS = """
SELECT verdict, count(*)
  FROM onebeat_ticks
 WHERE app = :app AND scheduled_at >= :since AND scheduled_at < :until AND verdict IS NOT NULL
 GROUP BY verdict
"""
_TALLY = """
SELECT (scheduled_at - :since) / :step AS stretch, verdict, count(*)
  FROM onebeat_ticks
 WHERE app = :app AND scheduled_at >= :since AND scheduled_at < :until
   AND {verdicts}
 GROUP BY stretch, verdict
"""


def tally_sql(verdicts: Collection[Verdict]) -> tuple[str, dict[str, object]]:
    """The statement that counts by stretches, and the values of its verdicts."""
    condition, values = _one_of(verdicts)
    return _TALLY.replace("{verdicts}", condition), values


def ticks_sql(
    which: TickFilter, after: Tick | None, order: Order = Order.NEWEST_FIRST
) -> tuple[str, dict[str, object]]:
    """The statement for a page of ticks, and its values but for the app and the limit."""
    conditions, values = _conditions(which)
    way, past = ("ASC", ">") if order is Order.OLDEST_FIRST else ("DESC", "<")
    if after is not None:
        conditions.append(
            f"scheduled_at {past}= :after_at AND (scheduled_at, job_id) {past} (:after_at, :after_id)"
        )
        values.update(after_at=micros(after.scheduled_at), after_id=after.job_id)
    wanted = "".join(f"   AND {condition}\n" for condition in conditions)
    return f"{_TICKS}{wanted} ORDER BY scheduled_at {way}, job_id {way}\n LIMIT :limit", values


def _conditions(which: TickFilter) -> tuple[list[str], dict[str, object]]:
    conditions: list[str] = []
    values: dict[str, object] = {}
    if which.job_id is not None:
        conditions.append("job_id = :job_id")
        values["job_id"] = which.job_id
    if which.prefix:
        # The plus keeps to the index by time: by that of the jobs, all their ticks would be sorted first.
        conditions.append("+job_id BETWEEN :first AND :last")
        values["first"], values["last"] = prefix_range(which.prefix)
    if which.verdicts:
        condition, words = _one_of(which.verdicts)
        conditions.append(condition)
        values |= words
    if which.replica is not None:
        conditions.append("claimed_by = :replica")
        values["replica"] = which.replica
    if which.since is not None:
        conditions.append("scheduled_at >= :since")
        values["since"] = micros(which.since)
    if which.until is not None:
        conditions.append("scheduled_at < :until")
        values["until"] = micros(which.until)
    if which.running:
        conditions.append("token IS NOT NULL AND released_at IS NULL")
    return conditions, values


def _one_of(verdicts: Collection[Verdict]) -> tuple[str, dict[str, object]]:
    words: dict[str, object] = {f"verdict_{n}": verdict.value for n, verdict in enumerate(verdicts)}
    condition = f"verdict IN ({', '.join(f':{name}' for name in words)})"
    if Verdict.RAN not in verdicts:
        condition += " AND verdict <> 'ran'"  # says nothing new, but in the words of an index
    return condition, words
