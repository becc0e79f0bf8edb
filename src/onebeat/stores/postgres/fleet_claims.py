"""Claims of one who came back, and verdicts on ticks that nobody holds."""

from __future__ import annotations

from onebeat.stores.postgres.durable import DURABLE

# The jobs are locked, then the ticks, as a claim of a lost tick does it: either that comes first, and its
# token stands there, or it finds the tick lost no more.
REASSERT = (
    DURABLE
    + """
, claims AS MATERIALIZED (
    SELECT asked.app, ask->>'replica' AS replica, ask->>'label' AS label, claim.*,
           tick.token IS NOT NULL AS recorded
      FROM asked
     CROSS JOIN json_to_recordset(rows)
        AS claim(number int, job_id text, scheduled_at timestamptz, token text, lease float8)
      LEFT JOIN LATERAL (
           SELECT * FROM {ticks} AS tick
            WHERE tick.app = asked.app AND tick.job_id = claim.job_id
              AND tick.scheduled_at = claim.scheduled_at LIMIT 1
           ) AS tick ON true
), locked AS MATERIALIZED (
    SELECT job.job_id, job.token, job.claimed_tick
      FROM {jobs} AS job
     WHERE job.app = (SELECT app FROM asked) AND job.job_id = ANY (ARRAY(SELECT job_id FROM claims))
     ORDER BY job.job_id COLLATE "C"
       FOR UPDATE OF job
), kept AS MATERIALIZED (
    SELECT claims.*, coalesce(tick.verdict = 'lost', false) AS lost,
           coalesce(locked.token = claims.token AND locked.claimed_tick = claims.scheduled_at, false)
           AS holds_lease
      FROM claims
      JOIN locked ON locked.job_id = claims.job_id
      JOIN {ticks} AS tick ON tick.app = claims.app AND tick.job_id = claims.job_id
                          AND tick.scheduled_at = claims.scheduled_at
     WHERE tick.token = claims.token
       AND (claims.lease IS NULL OR locked.token = claims.token AND locked.claimed_tick = claims.scheduled_at)
     ORDER BY tick.job_id COLLATE "C", tick.scheduled_at
       FOR UPDATE OF tick
), back AS (
    UPDATE {ticks} AS tick
       SET holder = kept.replica, claimed_by = kept.label,
           released_at = CASE WHEN lost THEN NULL ELSE tick.released_at END,
           verdict = CASE WHEN lost THEN NULL ELSE tick.verdict END,
           provisional = lost OR tick.provisional,
           note = CASE WHEN lost THEN NULL ELSE tick.note END,
           wanted = nullif(tick.wanted, 'rerun')
      FROM kept
     WHERE tick.app = kept.app AND tick.job_id = kept.job_id AND tick.scheduled_at = kept.scheduled_at
), held AS (
    UPDATE {jobs} AS job
       SET holder = CASE WHEN holds_lease THEN kept.replica ELSE job.holder END,
           released_at = CASE WHEN holds_lease AND lost THEN NULL ELSE job.released_at END,
           lease_until = CASE WHEN holds_lease AND lost
                              THEN clock_timestamp() + kept.lease * interval '1 second'
                              ELSE job.lease_until END,
           failures = CASE WHEN lost THEN greatest(job.failures - 1, 0) ELSE job.failures END
      FROM kept
     WHERE job.app = kept.app AND job.job_id = kept.job_id
)
SELECT json_agg(json_build_array(claims.number, kept.number IS NOT NULL, claims.recorded))::text
  FROM claims LEFT JOIN kept ON kept.number = claims.number
"""
)

RECORD = (
    DURABLE
    + """
INSERT INTO {ticks} AS tick (app, job_id, scheduled_at, verdict, note, provisional)
SELECT app, job_id, scheduled_at, verdict, note, verdict <> 'missed'
  FROM asked
 CROSS JOIN json_to_recordset(rows) AS record(job_id text, scheduled_at timestamptz, verdict text, note text)
 ORDER BY job_id COLLATE "C", scheduled_at
ON CONFLICT (app, job_id, scheduled_at) DO UPDATE
   SET verdict = excluded.verdict, note = excluded.note
 WHERE tick.token IS NULL AND tick.verdict IS NOT NULL AND tick.provisional AND excluded.verdict <> 'missed'
"""
)
