"""The dead: who they are, and what becomes of what they held."""

from __future__ import annotations

from onebeat.fleet import KEPT_FOR_A_RERUN
from onebeat.stores.postgres.durable import DURABLE

# A row that somebody holds is somebody's beat, or another's obituary: left alone. Those locked are looked
# at again as they stand then. Whoever judges has itself beaten all along; had it slept, or the server, its
# own last beat would be as old.
OBITUARY = """
WITH asked AS MATERIALIZED (
    SELECT ask->>'app' AS app, ask->>'replica' AS replica,
           clock_timestamp() - (ask->>'ttl')::float8 * interval '1 second' AS since
      FROM CAST($1::text AS jsonb) AS ask
), lapsed AS MATERIALIZED (
    SELECT replica.app, replica.replica_id
      FROM {replicas} AS replica JOIN asked ON replica.app = asked.app
     WHERE replica.dead_at IS NULL AND replica.beat_at < asked.since
       AND EXISTS (SELECT FROM {replicas} AS judge
                    WHERE judge.app = asked.app AND judge.replica_id = asked.replica
                      AND judge.dead_at IS NULL AND judge.healthy_since <= asked.since
                      AND judge.beat_at >= asked.since)
       FOR UPDATE OF replica SKIP LOCKED
)
UPDATE {replicas} AS replica
   SET dead_at = clock_timestamp()
  FROM lapsed
 WHERE replica.app = lapsed.app AND replica.replica_id = lapsed.replica_id
"""

# The jobs' rows are locked in key order, as a claim does it; then the ticks' that are free. One that a
# transaction of a body holds is left for the next burial, like a claim that lands after its holder's death:
# so the dead are buried for good only after a while, and only when nothing is left.
BURIAL = (
    DURABLE
    + """
, dead AS MATERIALIZED (
    SELECT replica.replica_id, replica.label,
           replica.dead_at < clock_timestamp() - (ask->>'ttl')::float8 * interval '1 second' AS long_dead
      FROM asked JOIN {replicas} AS replica ON replica.app = asked.app
     WHERE replica.dead_at IS NOT NULL AND replica.buried_at IS NULL
), left_behind AS MATERIALIZED (
    SELECT tick.app, tick.job_id, tick.scheduled_at, tick.holder
      FROM {ticks} AS tick
     WHERE EXISTS (SELECT FROM dead) AND tick.app = (SELECT app FROM asked)
       AND tick.released_at IS NULL AND tick.token IS NOT NULL
       AND tick.holder = ANY (ARRAY(SELECT replica_id FROM dead))
), locked AS MATERIALIZED (
    SELECT job.job_id, job.watermark, job.attempt
      FROM {jobs} AS job
     WHERE job.app = (SELECT app FROM asked) AND job.job_id = ANY (ARRAY(SELECT job_id FROM left_behind))
     ORDER BY job.job_id COLLATE "C"
       FOR UPDATE OF job
), held AS MATERIALIZED (
    SELECT tick.app, tick.job_id, tick.scheduled_at, tick.token, tick.attempt,
           tick.confirmed_at IS NULL AS lost, dead.label, dead.replica_id,
           tick.confirmed_at IS NULL AND tick.rerun AND locked.watermark = tick.scheduled_at
               AND locked.attempt = tick.attempt AS again
      FROM left_behind
      JOIN locked ON locked.job_id = left_behind.job_id
      JOIN {ticks} AS tick ON tick.app = left_behind.app AND tick.job_id = left_behind.job_id
                          AND tick.scheduled_at = left_behind.scheduled_at
      JOIN dead ON dead.replica_id = tick.holder
     WHERE tick.released_at IS NULL AND tick.token IS NOT NULL
       FOR UPDATE OF tick SKIP LOCKED
), told AS (
    UPDATE {ticks} AS tick
       SET released_at = clock_timestamp(), provisional = false,
           verdict = CASE WHEN lost THEN 'lost' ELSE 'ran' END,
           note = 'its replica ' || label || ' was declared dead',
           wanted = CASE WHEN again THEN 'rerun' END
      FROM held
     WHERE tick.app = held.app AND tick.job_id = held.job_id AND tick.scheduled_at = held.scheduled_at
), freed AS (
    UPDATE {jobs} AS job
       SET released_at = CASE WHEN job.released_at IS NULL AND job.token = ANY (ended.tokens)
                              THEN clock_timestamp() ELSE job.released_at END,
           lease_until = CASE WHEN job.token = ended.kept THEN clock_timestamp() + {kept}
                              ELSE job.lease_until END,
           holder = CASE WHEN job.token = ended.kept THEN ended.judge ELSE job.holder END,
           last_verdict = CASE WHEN ended.ran THEN 'ran' ELSE 'lost' END,
           last_success_at = CASE WHEN ended.ran THEN clock_timestamp() ELSE job.last_success_at END,
           failures = CASE WHEN ended.ran THEN 0 ELSE job.failures + ended.count END
      FROM (SELECT app, job_id, array_agg(token) FILTER (WHERE NOT again) AS tokens,
                   max(token) FILTER (WHERE again) AS kept, (SELECT ask->>'replica' FROM asked) AS judge,
                   NOT bool_and(lost) AS ran, count(*)
              FROM held GROUP BY app, job_id) AS ended
     WHERE job.app = ended.app AND job.job_id = ended.job_id
), buried AS (
    UPDATE {replicas} AS replica
       SET buried_at = clock_timestamp()
      FROM asked, dead
     WHERE replica.app = asked.app AND replica.replica_id = dead.replica_id AND dead.long_dead
       AND (SELECT count(*) FROM left_behind WHERE left_behind.holder = dead.replica_id)
           = (SELECT count(*) FROM held WHERE held.replica_id = dead.replica_id)
)
SELECT coalesce(json_agg(json_build_array(job_id, scheduled_at, attempt)
                         ORDER BY job_id, scheduled_at), '[]')::text
  FROM held
 WHERE lost
""".replace("{kept}", f"interval '{KEPT_FOR_A_RERUN.total_seconds()} seconds'")
)
