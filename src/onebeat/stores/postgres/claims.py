"""Claim and release: one statement each, decided by the job's own row once it is locked."""

from __future__ import annotations

# Read by the statement, because a CTE that nobody reads is not run. Without it an app's default of
# `synchronous_commit = off` would lose acknowledged claims in a crash, and the ticks would run twice.
_DURABLE = """
WITH settings AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'on', true) AS synchronous_commit
), asked AS MATERIALIZED (
    SELECT ask, ask->>'app' AS app, CAST($2::text AS json) AS rows
      FROM settings, CAST($1::text AS jsonb) AS ask
     WHERE synchronous_commit IS NOT NULL
)
"""

# The same claim made again: its lease stays as it is, released or not.
_SAME_CLAIM = "(job.token = excluded.token AND job.claimed_tick = excluded.claimed_tick)"
# … or, where overlap is allowed, a bid for the newest tick: claimed already, by whom `recorded` will tell.
_AGAIN = f"(job.watermark = excluded.watermark OR {_SAME_CLAIM})"
_KEEP_LEASE = f"(excluded.lease_until IS NULL OR {_SAME_CLAIM})"

# `bids` sees the statement's snapshot. That settles nothing but what can never change: a tick whose row
# holds a token has been won, for ever. Everything else is decided in `taken`, whose ON CONFLICT reads the
# job's row as it stands under its lock, and in `recorded`, where the unique key of the tick has the last
# word. The snapshot only words the refusals.
#
# Rows are locked in key order, or rivals with the same jobs would deadlock. The clock is looked at twice:
# in the outer SELECT, one row at a time just before its insert, for a job without a row; and after the
# wait for the lock of one that has a row.
CLAIM = (
    (
        _DURABLE
        + """
, bids AS MATERIALIZED (
    SELECT asked.app, bid.number, bid.job_id, bid.scheduled_at, bid.token,
           bid.lease * interval '1 second' AS lease,
           (ask->>'timeout')::float8 * interval '1 second' + statement_timestamp() AS deadline,
           bid.scheduled_at > clock_timestamp() + (ask->>'tolerance')::float8 * interval '1 second' AS early,
           ask->>'replica' AS replica, ask->>'label' AS label,
           tick.token AS won_with, tick.claimed_by, tick.fence, tick.attempt, tick.previous_at,
           job.watermark, job.floor,
           job.released_at IS NULL AND job.lease_until > clock_timestamp() AS blocked
      FROM asked
     CROSS JOIN json_to_recordset(rows)
        AS bid(number int, job_id text, scheduled_at timestamptz, token text, lease float8)
      LEFT JOIN LATERAL (
           SELECT * FROM {jobs} AS job WHERE job.app = asked.app AND job.job_id = bid.job_id LIMIT 1
           ) AS job ON true
      LEFT JOIN LATERAL (
           SELECT * FROM {ticks} AS tick
            WHERE tick.app = asked.app AND tick.job_id = bid.job_id AND tick.scheduled_at = bid.scheduled_at
            LIMIT 1
           ) AS tick ON true
), taken AS (
    INSERT INTO {jobs} AS job
           (app, job_id, watermark, claimed_tick, token, holder, lease_until, fence)
    SELECT app, job_id, scheduled_at,
           CASE WHEN lease IS NOT NULL THEN scheduled_at END,
           CASE WHEN lease IS NOT NULL THEN token END,
           CASE WHEN lease IS NOT NULL THEN replica END,
           statement_timestamp() + lease,
           (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
      FROM (SELECT * FROM bids WHERE won_with IS NULL AND NOT early
             ORDER BY job_id COLLATE "C" OFFSET 0) AS fresh
     WHERE clock_timestamp() <= deadline
    ON CONFLICT (app, job_id) DO UPDATE SET
           watermark = greatest(job.watermark, excluded.watermark),
           previous_at = CASE WHEN {again} THEN job.previous_at ELSE job.watermark END,
           fence = CASE WHEN {again} THEN job.fence ELSE greatest(job.fence + 1, excluded.fence) END,
           claimed_tick = CASE WHEN {keep_lease} THEN job.claimed_tick ELSE excluded.claimed_tick END,
           token = CASE WHEN {keep_lease} THEN job.token ELSE excluded.token END,
           holder = CASE WHEN {keep_lease} THEN job.holder ELSE excluded.holder END,
           released_at = CASE WHEN {keep_lease} THEN job.released_at END,
           lease_until = CASE WHEN {keep_lease} THEN job.lease_until
                              -- The wait for this row's lock is no part of the lease.
                              ELSE excluded.lease_until + (clock_timestamp() - statement_timestamp()) END
     WHERE (job.floor IS NULL OR excluded.watermark > job.floor)
       AND ({same_claim} OR (
               clock_timestamp() <= statement_timestamp() + (
                   SELECT (ask->>'timeout')::float8 * interval '1 second' FROM asked)
               AND (excluded.lease_until IS NULL OR (
                   (job.watermark IS NULL OR excluded.watermark > job.watermark)
                   AND (job.lease_until IS NULL OR job.released_at IS NOT NULL
                        OR job.lease_until <= clock_timestamp())))))
    RETURNING job.job_id, job.watermark, job.fence, job.attempt, job.previous_at
), recorded AS (
    INSERT INTO {ticks} AS tick
           (app, job_id, scheduled_at, token, holder, claimed_by, claimed_at, attempt, fence, previous_at)
    SELECT bids.app, bids.job_id, bids.scheduled_at, bids.token, bids.replica, bids.label,
           clock_timestamp(), taken.attempt, taken.fence, taken.previous_at
      FROM taken JOIN bids ON bids.job_id = taken.job_id
    ON CONFLICT (app, job_id, scheduled_at) DO UPDATE SET token = tick.token
     WHERE tick.token = excluded.token
    RETURNING tick.job_id, tick.claimed_by, tick.fence, tick.attempt, tick.previous_at
)
SELECT json_build_object('store_time', clock_timestamp(), 'answers', json_agg(json_build_array(
           bids.number,
           CASE
               WHEN recorded.job_id IS NOT NULL OR bids.won_with = bids.token THEN 'won'
               WHEN bids.won_with IS NOT NULL
                 OR bids.scheduled_at <= bids.floor
                 OR bids.lease IS NOT NULL AND bids.scheduled_at <= bids.watermark THEN 'claimed'
               WHEN bids.early THEN 'early'
               WHEN bids.lease IS NOT NULL AND bids.blocked THEN 'overlapped'
               WHEN clock_timestamp() > bids.deadline THEN 'expired'
               ELSE 'claimed' END,
           coalesce(taken.watermark, bids.watermark),
           coalesce(recorded.fence, bids.fence),
           coalesce(recorded.attempt, bids.attempt),
           CASE WHEN recorded.job_id IS NULL THEN bids.previous_at ELSE recorded.previous_at END,
           coalesce(recorded.claimed_by, bids.claimed_by))))::text
  FROM bids
  LEFT JOIN taken ON taken.job_id = bids.job_id
  LEFT JOIN recorded ON recorded.job_id = bids.job_id
"""
    )
    .replace("{same_claim}", _SAME_CLAIM)
    .replace("{again}", _AGAIN)
    .replace("{keep_lease}", _KEEP_LEASE)
)

# The jobs' rows are locked in key order before anything is written, as a claim does it. What they hold is
# read from `locked`, which sees them as they stand then: a claim that lands while we wait is released too.
# `held` joins the two once and for all: joined again below, a planner that expects a hundred releases
# where there are a thousand would compare each with each.
RELEASE = (
    _DURABLE
    + """
, ended AS MATERIALIZED (
    SELECT app, ended.*
      FROM asked
     CROSS JOIN json_to_recordset(rows)
        AS ended(job_id text, scheduled_at timestamptz, token text, verdict text,
                 started_at timestamptz, finished_at timestamptz, error text)
), locked AS MATERIALIZED (
    SELECT job.job_id, job.claimed_tick, job.token, job.released_at
      FROM {jobs} AS job
     WHERE job.app = (SELECT app FROM asked) AND job.job_id IN (SELECT job_id FROM ended)
     ORDER BY job.job_id COLLATE "C"
       FOR UPDATE OF job
), held AS MATERIALIZED (
    SELECT ended.*,
           locked.token = ended.token AND locked.claimed_tick = ended.scheduled_at
           AND locked.released_at IS NULL AS holds_lease
      FROM locked JOIN ended ON ended.job_id = locked.job_id
), freed AS (
    UPDATE {jobs} AS job
       SET released_at = clock_timestamp()
      FROM held
     WHERE job.app = held.app AND job.job_id = held.job_id AND held.holds_lease
)
UPDATE {ticks} AS tick
   SET released_at = clock_timestamp(), verdict = held.verdict, provisional = false,
       started_at = held.started_at, finished_at = held.finished_at, note = held.error
  FROM held
 WHERE tick.app = held.app AND tick.job_id = held.job_id AND tick.scheduled_at = held.scheduled_at
   AND tick.token = held.token AND tick.released_at IS NULL
"""
)
