"""The heartbeat: one cheap statement, whose answer carries everything a replica has to know."""

from __future__ import annotations

# Beat and obituary exclude each other by the row's lock: whichever comes second finds its condition gone.
# Which orders still stand is told by the tick's own row; a rerun's also by its job's, which has perhaps
# moved on. Whoever bids for one is told the truth in any case.
BEAT = """
WITH asked AS MATERIALIZED (
    SELECT ask->>'app' AS app, ask->>'replica' AS replica, (ask->>'now')::timestamptz AS now,
           (ask->>'ttl')::float8 * interval '1 second' AS ttl
      FROM CAST($1::text AS jsonb) AS ask
), beaten AS (
    UPDATE {replicas} AS replica
       SET beat_at = clock_timestamp(),
           healthy_since = CASE WHEN beat_at < clock_timestamp() - ttl
                                THEN clock_timestamp() ELSE healthy_since END,
           skew = extract(epoch FROM asked.now - clock_timestamp())
      FROM asked
     WHERE replica.app = asked.app AND replica.replica_id = asked.replica AND replica.dead_at IS NULL
    RETURNING replica.healthy_since, replica.skew
), others AS MATERIALIZED (
    SELECT replica.replica_id, replica.dead_at,
           CASE WHEN replica.dead_at IS NULL THEN replica.beat_at
                WHEN replica.buried_at IS NULL THEN replica.dead_at END < clock_timestamp() - ttl AS suspect,
           extract(epoch FROM replica.beat_at + ttl - clock_timestamp()) AS lapse_in
      FROM asked JOIN {replicas} AS replica ON replica.app = asked.app AND replica.replica_id <> asked.replica
), orders AS (
    SELECT tick.wanted, tick.job_id, tick.scheduled_at, tick.token,
           CASE tick.wanted WHEN 'rerun' THEN tick.attempt + 1 ELSE tick.attempt END AS attempt,
           tick.forced, tick.asked_by,
           CASE tick.wanted WHEN 'cancel' THEN tick.note ELSE tick.reason END AS reason
      FROM asked
      JOIN {ticks} AS tick ON tick.app = asked.app AND tick.wanted IS NOT NULL
     WHERE CASE tick.wanted
               WHEN 'run' THEN tick.token IS NULL
               WHEN 'cancel' THEN tick.holder = asked.replica AND tick.released_at IS NULL
               ELSE EXISTS (SELECT FROM {jobs} AS job
                             WHERE job.app = tick.app AND job.job_id = tick.job_id
                               AND job.watermark = tick.scheduled_at) END
     ORDER BY tick.scheduled_at
     LIMIT 1000
)
SELECT json_build_object(
           'store_time', clock_timestamp(),
           'skew', coalesce(beaten.skew, extract(epoch FROM asked.now - clock_timestamp())),
           'dead', beaten.healthy_since IS NULL,
           'healthy', coalesce(beaten.healthy_since <= clock_timestamp() - ttl, false),
           'suspects', (SELECT coalesce(bool_or(suspect), false) FROM others),
           'lapse_in', (SELECT min(lapse_in) FROM others WHERE dead_at IS NULL),
           'living', (SELECT coalesce(json_agg(replica_id), '[]') FROM others WHERE dead_at IS NULL),
           'orders', (SELECT coalesce(json_agg(json_build_array(
                          wanted, job_id, scheduled_at, token, attempt, forced, asked_by, reason
                      ) ORDER BY scheduled_at), '[]') FROM orders),
           'timeline', left(pg_walfile_name(pg_current_wal_lsn()), 8))::text
  FROM asked LEFT JOIN beaten ON true
"""
