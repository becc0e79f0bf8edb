"""A history as a fleet leaves it, by one statement a table: nobody waits for a million ticks."""

from __future__ import annotations

import psycopg

from onebeat.stores.postgres.schema import migration_sql

_JOBS = """
INSERT INTO onebeat_jobs (app, job_id, watermark, previous_at, fence, schedule, first_seen, changed_at,
                          last_verdict, last_success_at, failures)
SELECT %(app)s, 'team ' || job %% 20 || '/job ' || lpad(job::text, 5, '0'),
       date_trunc('minute', now()), date_trunc('minute', now()) - interval '1 min', 1,
       (ARRAY['every(minutes=1)', $$cron('*/5 * * * *')$$, $$cron('30 2 * * *', tz='Europe/Berlin')$$,
              $$cron('0 9 * * 1-5', tz='America/New_York')$$])[1 + job %% 4],
       now() - interval '90 days', now() - interval '90 days',
       CASE WHEN job %% 40 = 0 THEN 'failed' ELSE 'ran' END,
       date_trunc('minute', now()) - CASE WHEN job %% 40 = 0 THEN interval '1 h' ELSE '0' END,
       CASE WHEN job %% 40 = 0 THEN 60 ELSE 0 END
  FROM generate_series(1, %(jobs)s) AS job
"""

# Most ran, some were missed, and a job in forty has failed for an hour.
_TICKS = """
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token, holder, claimed_by, claimed_at, released_at,
                           started_at, finished_at, fence, verdict, provisional, note)
SELECT %(app)s, 'team ' || job %% 20 || '/job ' || lpad(job::text, 5, '0'), at,
       'token ' || job || '/' || tick, 'replica ' || job %% 3, 'web-' || job %% 3, at, at + took,
       at + interval '20 ms', at + took, 1, verdict, false,
       CASE verdict WHEN 'failed' THEN 'ValueError: it did not work' END
  FROM generate_series(1, %(jobs)s) AS job, generate_series(0, %(each)s - 1) AS tick,
       LATERAL (SELECT date_trunc('minute', now()) - tick * interval '1 min' AS at,
                       (100 + (job * 31 + tick * 17) %% 900) * interval '1 ms' AS took,
                       CASE WHEN job %% 40 = 0 AND tick < 60 THEN 'failed'
                            WHEN (job * 7 + tick) %% 500 = 0 THEN 'missed' ELSE 'ran' END AS verdict) AS due
"""

_REPLICAS = """
INSERT INTO onebeat_replicas (app, replica_id, label, started_at, healthy_since, version, zone_data, pid)
SELECT %(app)s, 'replica ' || number, 'web-' || number, now() - interval '2 days', now() - interval '2 days',
       '0.1.0', '2026a', 100 + number
  FROM generate_series(0, %(replicas)s - 1) AS number
"""


def fill(dsn: str, *, app: str, jobs: int, each: int, replicas: int = 3) -> None:
    """*jobs* jobs, the newest *each* ticks of each, one a minute, and *replicas* that beat just now."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(migration_sql().encode())
        for statement in (_JOBS, _TICKS, _REPLICAS):
            connection.execute(statement, {"app": app, "jobs": jobs, "each": each, "replicas": replicas})
        connection.execute("ANALYZE")
