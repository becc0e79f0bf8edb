-- The release, which ends claims and records how their runs went: a function as the claim is.
-- $1 is {"app", "label"}, $2 the releases.
CREATE OR REPLACE FUNCTION {release}(text, text) RETURNS void LANGUAGE plpgsql AS $release$
#variable_conflict use_column
DECLARE
    unknown bigint;
BEGIN
-- What landed while this waited for the jobs is seen by the second look only.
FOR look IN 1..2 LOOP
WITH settings AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'on', true) AS synchronous_commit
), asked AS MATERIALIZED (
    SELECT ask, ask->>'app' AS app, CAST($2 AS json) AS rows
      FROM settings, CAST($1 AS jsonb) AS ask
     WHERE synchronous_commit IS NOT NULL
), ended AS MATERIALIZED (
    SELECT app, ask->>'label' AS label, ended.*
      FROM asked
     CROSS JOIN json_to_recordset(rows)
        AS ended(job_id text, scheduled_at timestamptz, token text, verdict text,
                 started_at timestamptz, finished_at timestamptz, error text, trace_id text,
                 missed json, accounts bool)
), locked AS MATERIALIZED (
    -- In key order, before anything is written, as a claim does it. They are found one by one, by the whole
    -- key however small the table was when this was planned, and seen as they stand then: a claim that landed
    -- meanwhile is released too. The app is that of all; said so, few are expected, and what follows is found
    -- by its whole key as well.
    SELECT job.*
      FROM (SELECT DISTINCT app, job_id COLLATE "C" AS job_id
              FROM ended
             WHERE app = (SELECT app FROM asked)
             ORDER BY job_id OFFSET 0) AS key
     CROSS JOIN LATERAL (
           SELECT job.job_id, job.claimed_tick, job.token, job.released_at
             FROM {jobs} AS job
            WHERE job.app = key.app AND job.job_id = key.job_id
            LIMIT 1
              FOR UPDATE) AS job
), held AS MATERIALIZED (
    -- Once and for all: joined again below, a planner that expects a hundred releases where there are a
    -- thousand would compare each with each.
    SELECT ended.*,
           coalesce(locked.token = ended.token AND locked.claimed_tick = ended.scheduled_at
                    AND locked.released_at IS NULL, false) AS holds_lease
      FROM locked JOIN ended ON ended.job_id = locked.job_id
), told AS (
    -- The tick's row says whether a claim has ended before; only then is nothing counted. A run that its
    -- transaction has confirmed ran, whatever its replica has heard of that.
    UPDATE {ticks} AS tick
       SET released_at = clock_timestamp(), provisional = false, wanted = NULL,
           verdict = CASE WHEN tick.confirmed_at IS NULL THEN held.verdict ELSE 'ran' END,
           started_at = held.started_at, finished_at = held.finished_at,
           note = CASE WHEN tick.confirmed_at IS NULL THEN held.error END, trace_id = held.trace_id
      FROM held
     WHERE tick.app = held.app AND tick.job_id = held.job_id AND tick.scheduled_at = held.scheduled_at
       AND tick.token = held.token AND tick.released_at IS NULL
    RETURNING tick.job_id, tick.verdict
), ending AS MATERIALIZED (
    SELECT held.app, held.label, held.job_id, held.scheduled_at, held.missed, held.accounts, held.holds_lease,
           held.job_id IN (SELECT job_id FROM told) AS told,
           CASE WHEN held.job_id IN (SELECT job_id FROM told WHERE verdict = 'ran') THEN 'ran'
                ELSE held.verdict END AS verdict
      FROM held
), freed AS (
    UPDATE {jobs} AS job
       SET released_at = CASE WHEN holds_lease THEN clock_timestamp() ELSE job.released_at END,
           last_verdict = CASE WHEN told THEN verdict ELSE job.last_verdict END,
           last_success_at = CASE WHEN told AND verdict = 'ran' THEN clock_timestamp()
                                  ELSE job.last_success_at END,
           failures = CASE WHEN told AND verdict = 'ran' THEN 0
                           WHEN told AND verdict IN ('failed', 'timed_out', 'lost') THEN job.failures + 1
                           ELSE job.failures END,
           accounted_at = CASE WHEN told AND accounts THEN greatest(job.accounted_at, scheduled_at)
                               ELSE job.accounted_at END
      FROM ending
     WHERE job.app = ending.app AND job.job_id = ending.job_id AND (holds_lease OR told)
), unclaimed AS (
    INSERT INTO {ticks} (app, job_id, scheduled_at, verdict, provisional, note)
    SELECT app, job_id, CAST(instant AS timestamptz), 'missed', false, label
      FROM ending CROSS JOIN json_array_elements_text(missed) AS instant
     WHERE told
     ORDER BY job_id COLLATE "C", CAST(instant AS timestamptz)
    ON CONFLICT (app, job_id, scheduled_at) DO NOTHING
)
SELECT count(*) INTO unknown FROM ending WHERE NOT told;
EXIT WHEN unknown = 0;
END LOOP;
END
$release$;
