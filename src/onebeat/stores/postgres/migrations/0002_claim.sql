-- The claim, decided by the job's own row once it is locked. A function, because its plan is kept then:
-- planning took longer than all the rest. Once released it is never edited: another gets another name.
--
-- Tables that were tiny when they were last analyzed would be read from end to end by a plan that is kept,
-- until the next ANALYZE, however they have grown: so never from end to end. That costs nothing.
--
-- $1 is {"app", "replica", "label", "timeout", "tolerance"}, $2 the bids; the answers, in no order.
CREATE OR REPLACE FUNCTION {claim}(text, text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $claim$
#variable_conflict use_column
DECLARE
    answers text;
    unsettled boolean;
BEGIN
-- What was refused by a row that others changed meanwhile is worded at the second look, by a snapshot that
-- sees them: the job's row is locked by now. So is the same claim made again while the first one was under
-- way, which is won.
FOR look IN 1..2 LOOP
WITH settings AS MATERIALIZED (
    -- Read below, because a CTE that nobody reads is not run. Without it an app's default of
    -- `synchronous_commit = off` would lose acknowledged claims in a crash, and the ticks would run twice.
    SELECT set_config('synchronous_commit', 'on', true) AS synchronous_commit
), asked AS MATERIALIZED (
    SELECT ask, ask->>'app' AS app, CAST($2 AS json) AS rows
      FROM settings, CAST($1 AS jsonb) AS ask
     WHERE synchronous_commit IS NOT NULL
), prefixes AS MATERIALIZED (
    SELECT name, until FROM {pauses} WHERE app = (SELECT app FROM asked) AND scope = 'prefix'
), bids AS MATERIALIZED (
    -- As the snapshot has it. That settles nothing but what can never change: a scheduled tick whose row holds
    -- a token has been won, for ever, and a watermark only grows. All else is decided in `taken`, whose ON
    -- CONFLICT reads the job's row as it stands under its lock, and in `recorded`, where the unique key of
    -- the tick has the last word. Whoever was declared dead comes too late for anything: what it won would
    -- block nobody.
    SELECT asked.app, bid.number, bid.job_id, bid.scheduled_at, bid.token,
           coalesce(bid.attempt, 1) AS bid_attempt, coalesce(bid.rerun, false) AS rerun,
           coalesce(bid.triggered, false) AS triggered,
           coalesce(bid.triggered OR bid.attempt > 1, false) AS waited_for,
           bid.lease * interval '1 second' AS lease,
           CASE WHEN dead THEN '-infinity'
                ELSE statement_timestamp() + (ask->>'timeout')::float8 * interval '1 second' END AS deadline,
           bid.scheduled_at > clock_timestamp() + (ask->>'tolerance')::float8 * interval '1 second' AS early,
           ask->>'replica' AS replica, ask->>'label' AS label,
           tick.job_id IS NOT NULL AS has_row, tick.token AS won_with,
           tick.claimed_by, tick.fence, tick.attempt, tick.previous_at,
           job.job_id IS NOT NULL AS known, job.watermark, job.floor,
           job.released_at IS NULL AND job.lease_until > clock_timestamp()
               AND NOT EXISTS (SELECT FROM {replicas} AS replica
                                WHERE replica.app = job.app AND replica.replica_id = job.holder
                                  AND replica.dead_at IS NOT NULL) AS blocked,
           pause.ongoing AND bid.triggered IS NOT true AS paused,
           greatest(job.changed_at, job.accounted_at, pause.ended) AS owed_since
      FROM asked
     CROSS JOIN (SELECT EXISTS (SELECT FROM {replicas} AS replica, asked
                                 WHERE replica.app = asked.app AND replica.replica_id = ask->>'replica'
                                   AND replica.dead_at IS NOT NULL) AS dead) AS asking
     CROSS JOIN json_to_recordset(rows)
        AS bid(number int, job_id text, scheduled_at timestamptz, token text, lease float8,
               attempt int, rerun bool, triggered bool)
      LEFT JOIN LATERAL (
           SELECT * FROM {jobs} AS job WHERE job.app = asked.app AND job.job_id = bid.job_id LIMIT 1
           ) AS job ON true
      LEFT JOIN LATERAL (
           SELECT * FROM {ticks} AS tick
            WHERE tick.app = asked.app AND tick.job_id = bid.job_id AND tick.scheduled_at = bid.scheduled_at
            LIMIT 1
           ) AS tick ON true
     CROSS JOIN LATERAL (
           SELECT coalesce(bool_or(until > clock_timestamp()), false) AS ongoing,
                  max(until) FILTER (WHERE until <= clock_timestamp()) AS ended
             FROM (SELECT until FROM {pauses} AS pause
                    WHERE pause.app = asked.app AND pause.scope = 'job' AND pause.name = bid.job_id
                    UNION ALL
                   SELECT until FROM prefixes WHERE starts_with(bid.job_id, prefixes.name)) AS covering
           ) AS pause
), locked AS MATERIALIZED (
    -- Jobs before ticks, as everywhere; so with bids for what waits among them all the jobs come first. In
    -- key order, or rivals with the same jobs would deadlock.
    SELECT job.job_id
      FROM {jobs} AS job
     WHERE job.app = (SELECT app FROM asked) AND job.job_id = ANY (ARRAY(SELECT job_id FROM bids))
       AND (SELECT bool_or(waited_for) FROM bids)
     ORDER BY job.job_id COLLATE "C"
       FOR UPDATE OF job
), waiting AS MATERIALIZED (
    -- What waits for a holder, a triggered tick or one that was lost, has a row: locked here, and seen as it
    -- stands then. So no lease is ever taken for a tick that turns out to be somebody's.
    SELECT bids.job_id, tick.token = bids.token AS won, tick.fence, tick.attempt, tick.previous_at
      FROM bids
      JOIN locked ON locked.job_id = bids.job_id
      JOIN {ticks} AS tick ON tick.app = bids.app AND tick.job_id = bids.job_id
                          AND tick.scheduled_at = bids.scheduled_at
     WHERE bids.waited_for AND bids.won_with IS DISTINCT FROM bids.token
       AND (tick.token = bids.token
            OR bids.triggered AND tick.token IS NULL AND tick.wanted = 'run'
            OR NOT bids.triggered AND tick.verdict = 'lost' AND tick.attempt = bids.bid_attempt - 1)
     ORDER BY tick.job_id COLLATE "C"
       FOR UPDATE OF tick
), taken AS (
    -- The clock is looked at twice: in the outer SELECT, one row at a time just before its insert, for a job
    -- without a row; and after the wait for the lock of one that has a row. A paused bid asks that row too,
    -- if there is one, though in vain: it may be a claim made again, which the second look will see.
    INSERT INTO {jobs} AS job
           (app, job_id, watermark, triggered_at, claimed_tick, token, holder, lease_until, fence, attempt,
            last_verdict)
    SELECT app, job_id, CASE WHEN NOT triggered THEN scheduled_at END,
           CASE WHEN triggered THEN scheduled_at END,
           CASE WHEN lease IS NOT NULL THEN scheduled_at END,
           CASE WHEN lease IS NOT NULL THEN token END,
           CASE WHEN lease IS NOT NULL THEN replica END,
           statement_timestamp() + lease,
           (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
           bid_attempt, CASE WHEN paused THEN 'paused' END
      FROM (SELECT * FROM bids
             WHERE CASE WHEN waited_for THEN job_id IN (SELECT job_id FROM waiting WHERE won IS NOT true)
                        ELSE won_with IS NULL AND NOT early AND (known OR NOT paused) END
             ORDER BY job_id COLLATE "C" OFFSET 0) AS fresh
     WHERE clock_timestamp() <= deadline
    ON CONFLICT (app, job_id) DO UPDATE SET
           watermark = greatest(job.watermark, excluded.watermark),
           triggered_at = greatest(job.triggered_at, excluded.triggered_at),
           previous_at = CASE WHEN excluded.watermark > job.watermark THEN job.watermark
                              ELSE job.previous_at END,
           -- Never below the clock: so it grows across a restore or a move to another database as well.
           fence = greatest(job.fence + 1, excluded.fence),
           attempt = CASE WHEN excluded.watermark > job.watermark OR excluded.attempt > 1
                          THEN excluded.attempt ELSE job.attempt END,
           -- A claim without a lease leaves another's alone.
           claimed_tick = CASE WHEN excluded.lease_until IS NULL THEN job.claimed_tick
                               ELSE excluded.claimed_tick END,
           token = CASE WHEN excluded.lease_until IS NULL THEN job.token ELSE excluded.token END,
           holder = CASE WHEN excluded.lease_until IS NULL THEN job.holder ELSE excluded.holder END,
           released_at = CASE WHEN excluded.lease_until IS NULL THEN job.released_at END,
           lease_until = CASE WHEN excluded.lease_until IS NULL THEN job.lease_until
                              -- The wait for this row's lock is no part of the lease.
                              ELSE excluded.lease_until + (clock_timestamp() - statement_timestamp()) END
     WHERE excluded.last_verdict IS NULL
       AND clock_timestamp() <= statement_timestamp() + (
           SELECT (ask->>'timeout')::float8 * interval '1 second' FROM asked)
       AND CASE
               WHEN excluded.attempt > 1
               THEN excluded.watermark = job.watermark AND excluded.attempt = job.attempt + 1
               WHEN excluded.lease_until IS NULL
               THEN (excluded.watermark <= job.floor OR excluded.watermark = job.watermark) IS NOT true
               ELSE (excluded.watermark <= job.floor OR excluded.watermark <= job.watermark) IS NOT true END
       -- That a holder was declared dead stays true for ever, so a snapshot may say it: at worst it does not
       -- know yet. A lost tick's lease is kept for whoever runs it again.
       AND (excluded.lease_until IS NULL
            OR excluded.attempt > 1 AND job.claimed_tick = excluded.claimed_tick
            OR (job.released_at IS NULL AND job.lease_until > clock_timestamp()
                AND NOT EXISTS (SELECT FROM {replicas} AS replica
                                 WHERE replica.app = job.app AND replica.replica_id = job.holder
                                   AND replica.dead_at IS NOT NULL)) IS NOT true)
    RETURNING job.job_id, job.watermark, job.fence, job.previous_at
), recorded AS (
    -- What asked for the run of a triggered tick stays in its row.
    INSERT INTO {ticks} AS tick
           (app, job_id, scheduled_at, token, holder, claimed_by, claimed_at, attempt, fence, previous_at,
            rerun)
    SELECT bids.app, bids.job_id, bids.scheduled_at, bids.token, bids.replica, bids.label,
           clock_timestamp(), bids.bid_attempt, taken.fence,
           CASE WHEN bids.waited_for THEN bids.previous_at ELSE taken.previous_at END, bids.rerun
      FROM taken JOIN bids ON bids.job_id = taken.job_id
     ORDER BY bids.job_id COLLATE "C"
    ON CONFLICT (app, job_id, scheduled_at) DO UPDATE SET
           token = excluded.token, holder = excluded.holder, claimed_by = excluded.claimed_by,
           claimed_at = excluded.claimed_at, attempt = excluded.attempt, fence = excluded.fence,
           previous_at = excluded.previous_at, rerun = excluded.rerun,
           released_at = NULL, started_at = NULL, finished_at = NULL, confirmed_at = NULL,
           verdict = NULL, provisional = true, note = NULL, trace_id = NULL, wanted = NULL
     WHERE tick.token IS NULL OR tick.verdict = 'lost' AND tick.attempt = excluded.attempt - 1
    RETURNING tick.job_id, tick.claimed_by, tick.fence, tick.attempt, tick.previous_at
), ruled AS MATERIALIZED (
    SELECT bids.*, taken.watermark AS new_watermark,
           coalesce(recorded.fence, waiting.fence, bids.fence) AS won_fence,
           coalesce(recorded.attempt, waiting.attempt, bids.attempt) AS won_attempt,
           CASE
               WHEN recorded.job_id IS NOT NULL OR bids.won_with = bids.token OR waiting.won THEN 'won'
               WHEN CASE WHEN bids.waited_for
                         THEN waiting.job_id IS NULL OR NOT bids.triggered AND bids.watermark > bids.scheduled_at
                         ELSE bids.won_with IS NOT NULL
                              OR bids.scheduled_at <= bids.floor
                              OR bids.lease IS NOT NULL AND bids.scheduled_at <= bids.watermark
                     END THEN 'claimed'
               WHEN bids.early THEN 'early'
               WHEN look = 1 THEN 'unsettled'
               WHEN bids.paused THEN 'paused'
               WHEN bids.lease IS NOT NULL AND bids.blocked THEN 'overlapped'
               WHEN clock_timestamp() > bids.deadline THEN 'expired'
               ELSE 'claimed' END AS ruling,
           CASE WHEN recorded.job_id IS NULL THEN bids.previous_at ELSE recorded.previous_at END AS since,
           coalesce(recorded.claimed_by, bids.claimed_by) AS told_claimed_by
      FROM bids
      LEFT JOIN taken ON taken.job_id = bids.job_id
      LEFT JOIN recorded ON recorded.job_id = bids.job_id
      LEFT JOIN waiting ON waiting.job_id = bids.job_id
), refused AS (
    INSERT INTO {ticks} (app, job_id, scheduled_at, verdict, note)
    SELECT app, job_id, scheduled_at, ruling, label
      FROM ruled
     WHERE ruling IN ('paused', 'overlapped') AND NOT has_row
     ORDER BY job_id COLLATE "C"
    ON CONFLICT (app, job_id, scheduled_at) DO NOTHING
)
SELECT json_build_object('store_time', clock_timestamp(), 'answers', json_agg(json_build_array(
           number, ruling, coalesce(new_watermark, watermark), won_fence, won_attempt, since,
           CASE WHEN ruling = 'won' THEN coalesce(owed_since, clock_timestamp()) END, told_claimed_by)))::text,
       bool_or(ruling = 'unsettled')
  INTO answers, unsettled
  FROM ruled;
EXIT WHEN NOT unsettled;
END LOOP;
RETURN answers;
END
$claim$;
