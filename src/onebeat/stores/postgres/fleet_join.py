"""Joining the fleet: one statement for any number of jobs."""

from __future__ import annotations

from onebeat.stores.postgres.durable import DURABLE

# Only jobs that are new or have changed are written, in key order: whoever joins with what everybody has
# locks nothing. A rival that writes the same job meanwhile is waited for, and decides what has changed.
#
# A dead replica's row stays dead: joining is no way back to life (F-JUDGE).
JOIN = (
    DURABLE
    + """
, registered AS MATERIALIZED (
    SELECT asked.app, registration.number, registration.job_id, registration.schedule, registration.instants,
           job.watermark, job.changed_at, job.accounted_at,
           job.job_id IS NULL OR job.schedule IS DISTINCT FROM registration.schedule
           OR job.fingerprint IS DISTINCT FROM registration.instants AS differs
      FROM asked
     CROSS JOIN json_to_recordset(rows)
        AS registration(number int, job_id text, schedule text, instants text)
      LEFT JOIN LATERAL (
           SELECT * FROM {jobs} AS job
            WHERE job.app = asked.app AND job.job_id = registration.job_id LIMIT 1
           ) AS job ON true
), written AS (
    INSERT INTO {jobs} AS job (app, job_id, schedule, fingerprint, fence, first_seen, changed_at)
    SELECT app, job_id, schedule, instants, 0, statement_timestamp(), statement_timestamp()
      FROM registered
     WHERE differs
     ORDER BY job_id COLLATE "C"
    ON CONFLICT (app, job_id) DO UPDATE
       SET schedule = excluded.schedule,
           fingerprint = excluded.fingerprint,
           changed_at = CASE WHEN job.schedule <> excluded.schedule
                             THEN clock_timestamp() ELSE job.changed_at END
    RETURNING job.job_id, job.watermark, job.changed_at
), joined AS (
    INSERT INTO {replicas} AS replica (app, replica_id, label, version, zone_data, pid, skew, jobs)
    SELECT app, ask->>'replica', ask->>'label', ask->>'version', ask->>'zone_data', (ask->>'pid')::int,
           extract(epoch FROM (ask->>'now')::timestamptz - clock_timestamp()),
           (SELECT coalesce(json_object_agg(job_id, instants), '{}')::text FROM registered)
      FROM asked
    ON CONFLICT (app, replica_id) DO UPDATE
       SET label = excluded.label, version = excluded.version, zone_data = excluded.zone_data,
           pid = excluded.pid, skew = excluded.skew,
           jobs = (replica.jobs::jsonb || excluded.jobs::jsonb)::text
), told AS MATERIALIZED (
    SELECT pg_notify(ask->>'channel', ask->>'replica') FROM asked
), prefixes AS MATERIALIZED (
    SELECT name, until FROM {pauses} WHERE app = (SELECT app FROM asked) AND scope = 'prefix'
)
SELECT json_agg(json_build_array(
           registered.number, coalesce(written.watermark, registered.watermark),
           greatest(coalesce(written.changed_at, registered.changed_at), accounted_at, pause.ended)))::text
  FROM registered
 CROSS JOIN told  -- the others: they share their ticks with one more now
  LEFT JOIN written ON written.job_id = registered.job_id
 CROSS JOIN LATERAL (
       SELECT max(until) AS ended
         FROM (SELECT until FROM {pauses} AS pause
                WHERE pause.app = registered.app AND pause.scope = 'job' AND pause.name = registered.job_id
                UNION ALL
               SELECT until FROM prefixes WHERE starts_with(registered.job_id, prefixes.name)) AS covering
        WHERE until <= clock_timestamp()
       ) AS pause
"""
)

# What it still holds, if anything, gets its verdict once it has been dead for a while. Its last beat is its
# leaving: so it is told from one that was declared dead.
LEAVE = """
UPDATE {replicas} AS replica
   SET dead_at = statement_timestamp(),
       beat_at = statement_timestamp()
  FROM CAST($1::text AS jsonb) AS ask
 WHERE replica.app = ask->>'app' AND replica.replica_id = ask->>'replica' AND replica.dead_at IS NULL
"""
