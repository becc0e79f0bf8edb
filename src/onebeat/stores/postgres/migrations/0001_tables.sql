-- What decides: one row a job, never deleted. Half of each page stays free, so that the two updates
-- a tick costs (its claim, its release) need not touch the index.
CREATE TABLE {jobs} (
    app text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL CHECK (char_length(job_id) BETWEEN 1 AND 200),
    watermark timestamptz,           -- the newest tick ever claimed
    previous_at timestamptz,         -- the watermark before the newest claim
    floor timestamptz,               -- the newest tick ever pruned: nothing at or below it is won
    claimed_tick timestamptz,        -- from here to released_at: the newest claim that took a lease
    token text,
    holder text,
    lease_until timestamptz,
    released_at timestamptz,
    fence bigint NOT NULL,
    attempt integer NOT NULL DEFAULT 1,  -- of the watermark's tick
    triggered_at timestamptz,        -- the newest triggered tick ever claimed
    schedule text,                   -- as last registered
    fingerprint text,                -- a digest of some of its instants
    first_seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),  -- when the schedule was first or last set
    accounted_at timestamptz,        -- up to this tick each one has a verdict, or a claim
    last_verdict text,
    last_success_at timestamptz,
    failures integer NOT NULL DEFAULT 0,  -- runs in a row that did not end well
    PRIMARY KEY (app, job_id)
) WITH (fillfactor = 50);

-- What is recorded: one row a tick, pruned in time.
CREATE TABLE {ticks} (
    app text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    scheduled_at timestamptz NOT NULL,
    token text,
    holder text,
    claimed_by text,
    attempt integer NOT NULL DEFAULT 1,
    fence bigint NOT NULL DEFAULT 0,
    previous_at timestamptz,
    claimed_at timestamptz,
    released_at timestamptz,
    started_at timestamptz,
    finished_at timestamptz,
    confirmed_at timestamptz,        -- when its transaction confirmed the claim
    verdict text,
    provisional boolean NOT NULL DEFAULT true,
    note text,                       -- the error, or who gave the verdict
    trace_id text,
    rerun boolean NOT NULL DEFAULT false,
    triggered boolean NOT NULL DEFAULT false,
    forced boolean NOT NULL DEFAULT false,
    asked_by text,
    reason text,
    wanted text,                     -- run, rerun or cancel: what a beat tells the replicas
    PRIMARY KEY (app, job_id, scheduled_at)
) WITH (fillfactor = 80);

-- For the newest page of the history, and for pruning. Without the job's id it would tie with the primary
-- key in the eyes of a planner without statistics, and a claim would read every tick of its instant.
CREATE INDEX onebeat_ticks_by_time ON {ticks} (app, scheduled_at, job_id);

-- All a beat looks at: a handful of rows, mostly none.
CREATE INDEX onebeat_ticks_wanted ON {ticks} (app) WHERE wanted IS NOT NULL;

CREATE TABLE {replicas} (
    app text COLLATE "C" NOT NULL,
    replica_id text COLLATE "C" NOT NULL,
    label text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    healthy_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    dead_at timestamptz,
    buried_at timestamptz,           -- when nothing it held was left without a verdict
    version text NOT NULL DEFAULT '',
    zone_data text NOT NULL DEFAULT '',
    pid integer NOT NULL DEFAULT 0,
    skew double precision NOT NULL DEFAULT 0,  -- seconds by which its clock leads
    jobs text NOT NULL DEFAULT '{}', -- JSON: the digest of each job it registered
    PRIMARY KEY (app, replica_id)
) WITH (fillfactor = 50);

-- Never deleted, but ended: what was paused then is not owed.
CREATE TABLE {pauses} (
    app text COLLATE "C" NOT NULL,
    scope text NOT NULL CHECK (scope IN ('job', 'prefix')),
    name text COLLATE "C" NOT NULL,  -- a job id, or the beginning of some; of the whole app: empty
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,      -- infinity: until resumed
    asked_by text NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (app, scope, name)
);

CREATE TABLE {audit} (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    action text NOT NULL,
    target text NOT NULL,
    asked_by text NOT NULL,
    reason text NOT NULL,
    until timestamptz
);

CREATE TABLE {permits} (
    app text COLLATE "C" NOT NULL,
    prefix text COLLATE "C" NOT NULL,
    place integer NOT NULL,
    token text,
    holder text,
    lease_until timestamptz,
    PRIMARY KEY (app, prefix, place)
) WITH (fillfactor = 50);

CREATE TABLE {alarms} (
    app text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (app, key)
);
