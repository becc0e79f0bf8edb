"""Prune and repair: what keeps the tables small and sound, and decides no claim."""

from __future__ import annotations

from onebeat.stores.postgres.schema import advisory_key

# One replica at a time: the others find the lock taken and have nothing to do. It ends with the statement.
_ALONE = f"""
WITH asked AS MATERIALIZED (
    SELECT ask->>'app' AS app, (ask->>'limit')::int AS at_once, (ask->>'most')::int AS most,
           clock_timestamp() - (ask->>'keep')::float8 * interval '1 second' AS kept_from
      FROM CAST($1::text AS jsonb) AS ask
     WHERE pg_try_advisory_xact_lock({advisory_key("prune")} # hashtextextended(ask->>'app', 0))
)
"""

# Nobody runs it, and nobody is to: a lost tick is run no more once its job has gone on.
_OVER = """((tick.token IS NULL OR tick.released_at IS NOT NULL)
            AND (tick.wanted IS NULL OR tick.wanted = 'rerun' AND EXISTS (
                     SELECT FROM {jobs} AS job WHERE job.app = tick.app AND job.job_id = tick.job_id
                                                 AND job.watermark > tick.scheduled_at)))"""

# Too old, or too many of their job.
_OLD = """
, old AS MATERIALIZED (
    (SELECT tick.ctid AS place, tick.job_id, tick.scheduled_at
       FROM {ticks} AS tick
      WHERE tick.app = (SELECT app FROM asked) AND tick.scheduled_at < (SELECT kept_from FROM asked)
        AND {over} AND {gone}
      ORDER BY tick.scheduled_at
      LIMIT (SELECT at_once FROM asked))
    UNION ALL
    (SELECT tick.ctid, tick.job_id, tick.scheduled_at
       FROM (SELECT job_id FROM {jobs}
              WHERE app = (SELECT app FROM asked WHERE most IS NOT NULL) OFFSET 0) AS crowded
      CROSS JOIN LATERAL (
            SELECT tick.ctid, * FROM {ticks} AS tick
             WHERE tick.app = (SELECT app FROM asked) AND tick.job_id = crowded.job_id
             ORDER BY tick.scheduled_at DESC
            OFFSET (SELECT most FROM asked)) AS tick
      WHERE {over} AND {gone}
      LIMIT (SELECT at_once FROM asked))
    LIMIT (SELECT at_once FROM asked)
)
""".replace("{over}", _OVER)

# A job whose row is busy waits for the next round: pruning must hold up no claim.
RAISE_FLOORS = (
    _ALONE
    + _OLD.replace("{gone}", "true")
    + """
, newest AS (
    SELECT job_id, max(scheduled_at) AS scheduled_at FROM old GROUP BY job_id
), locked AS MATERIALIZED (
    SELECT job.app, job.job_id
      FROM {jobs} AS job
     WHERE job.app = (SELECT app FROM asked) AND job.job_id = ANY (ARRAY(SELECT job_id FROM old))
     ORDER BY job.job_id COLLATE "C"
       FOR UPDATE OF job SKIP LOCKED
)
UPDATE {jobs} AS job
   SET floor = greatest(job.floor, newest.scheduled_at)
  FROM locked JOIN newest ON newest.job_id = locked.job_id
 WHERE job.app = locked.app AND job.job_id = locked.job_id
   AND (job.floor IS NULL OR job.floor < newest.scheduled_at)
"""
)

# A statement of its own: only a floor that has been committed lets anything go. By place, because a planner
# that does not know the limit would read the whole table to find a few rows; and only what is over still,
# should a lost tick have been claimed anew a moment ago.
_BELOW_FLOOR = """EXISTS (SELECT FROM {jobs} AS job
                           WHERE job.app = tick.app AND job.job_id = tick.job_id
                             AND tick.scheduled_at <= job.floor)"""
_AUDIT_KEPT = "interval '30 days'"
DELETE_BELOW_FLOORS = (
    _ALONE
    + _OLD.replace("{gone}", _BELOW_FLOOR)
    + """
, deleted AS (
    DELETE FROM {ticks} AS tick WHERE tick.ctid = ANY (ARRAY(SELECT place FROM old)) AND {over}
    RETURNING 1
), forgotten AS (
    DELETE FROM {replicas} AS replica USING asked
     WHERE replica.app = asked.app AND replica.buried_at IS NOT NULL AND replica.dead_at < kept_from
), unaudited AS (
    DELETE FROM {audit} AS audit USING asked
     WHERE audit.app = asked.app
       AND audit.at < least(kept_from, clock_timestamp() - {audit_kept})
)
SELECT count(*)::text FROM deleted
""".replace("{over}", _OVER).replace("{audit_kept}", _AUDIT_KEPT)
)

# Ticks won beyond the clock keep their rows, and a row with a token is never won again.
REPAIR = """
WITH asked AS MATERIALIZED (
    SELECT ask->>'app' AS app, ask->>'job_id' AS job_id FROM CAST($1::text AS jsonb) AS ask
), repaired AS (
    UPDATE {jobs} AS job
       SET watermark = greatest(job.floor, (
               SELECT max(tick.scheduled_at) FROM {ticks} AS tick
                WHERE tick.app = job.app AND tick.job_id = job.job_id AND tick.token IS NOT NULL
                  AND NOT tick.triggered AND tick.scheduled_at <= clock_timestamp()))
      FROM asked
     WHERE job.app = asked.app AND job.job_id = asked.job_id
       AND job.watermark > clock_timestamp()
       AND (job.floor IS NULL OR job.floor < job.watermark)
    RETURNING 1
)
SELECT count(*)::text FROM repaired
"""
