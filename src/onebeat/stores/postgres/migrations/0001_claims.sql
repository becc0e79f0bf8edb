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
    attempt integer NOT NULL DEFAULT 1,
    paused_until timestamptz,
    fingerprint text,
    first_seen timestamptz NOT NULL DEFAULT clock_timestamp(),
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
    verdict text,
    provisional boolean NOT NULL DEFAULT true,
    error text,
    PRIMARY KEY (app, job_id, scheduled_at)
) WITH (fillfactor = 80);

-- For pruning alone. With the app in front it would tie with the primary key in the eyes of a planner
-- without statistics, and a claim would read every tick of its instant to find its own.
CREATE INDEX onebeat_ticks_by_time ON {ticks} (scheduled_at);

CREATE TABLE {replicas} (
    app text COLLATE "C" NOT NULL,
    replica_id text COLLATE "C" NOT NULL,
    label text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    healthy_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    dead_at timestamptz,
    PRIMARY KEY (app, replica_id)
) WITH (fillfactor = 50);
