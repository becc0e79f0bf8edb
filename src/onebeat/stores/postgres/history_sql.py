"""How the history is asked for on PostgreSQL. The columns stand in the order of the records' fields."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from onebeat.history import Order, TickFilter
from onebeat.model import Tick, Verdict
from onebeat.paging import prefix_range
from onebeat.stores.postgres.dead import is_dead

_ASKED = """
WITH asked AS MATERIALIZED (SELECT CAST($1::text AS jsonb) AS ask)
"""
_TICK_COLUMNS = """
job_id, scheduled_at, verdict, verdict IS NOT NULL AND provisional, claimed_by, holder, attempt, fence,
claimed_at, started_at, finished_at, note, trace_id, wanted, triggered, asked_by, reason
"""
TICK = (
    _ASKED
    + f"""
SELECT coalesce(json_agg(json_build_array({_TICK_COLUMNS})), '[]')::text
  FROM asked JOIN {{ticks}} AS tick
    ON tick.app = ask->>'app' AND tick.job_id = ask->>'job_id'
   AND tick.scheduled_at = (ask->>'at')::timestamptz
"""
)
# One array a column: the same cells by rows cost the server half as much again. The newest come first.
MARKS = (
    _ASKED
    + """
SELECT coalesce(json_agg(json_build_array(wanted.job_id, instants, verdicts, lateness, durations)),
                '[]')::text
  FROM asked
  JOIN jsonb_array_elements_text(ask->'job_ids') AS wanted (job_id) ON true
  JOIN LATERAL (
    SELECT array_agg(scheduled_at) AS instants, array_agg(verdict) AS verdicts,
           array_agg(date_part('epoch', started_at - scheduled_at)) AS lateness,
           array_agg(date_part('epoch', finished_at - started_at)) AS durations
      FROM (SELECT scheduled_at, verdict, started_at, finished_at
              FROM {ticks} AS tick
             WHERE tick.app = (SELECT ask->>'app' FROM asked) AND tick.job_id = wanted.job_id
             ORDER BY scheduled_at DESC
             LIMIT (SELECT (ask->>'each')::int FROM asked)) AS newest
  ) AS marks ON instants IS NOT NULL
"""
)
# Values stand in scalar subqueries, so that a plan knows them for constants and keeps to an index.
_TICKS = (
    _ASKED
    + """
, found AS (
    SELECT *
      FROM {ticks} AS tick
     WHERE app = (SELECT ask->>'app' FROM asked)
{conditions}     ORDER BY scheduled_at {way}, job_id COLLATE "C" {way}
     LIMIT (SELECT (ask->>'limit')::int FROM asked)
)
SELECT coalesce(json_agg(json_build_array({columns})
                         ORDER BY scheduled_at {way}, job_id COLLATE "C" {way}), '[]')::text
  FROM found
"""
)
# Ends of pauses are told in UTC: far enough ahead they lie in a year that only UTC still counts. A job's own
# pause is one row, found by its key; those of prefixes are few, and every job is held against each of them.
JOBS = (
    _ASKED
    + """
, job AS (
    SELECT job.*, job.released_at IS NULL AND job.lease_until > clock_timestamp()
                  AND NOT {holder_is_dead} AS blocked
      FROM {jobs} AS job
     WHERE job.app = (SELECT ask->>'app' FROM asked)
       AND job.job_id >= (SELECT ask->>'first' FROM asked) AND job.job_id <= (SELECT ask->>'last' FROM asked)
       AND job.job_id > (SELECT ask->>'after' FROM asked)
     ORDER BY job.job_id COLLATE "C"
     LIMIT (SELECT (ask->>'limit')::int FROM asked)
), paused AS MATERIALIZED (
    SELECT scope, name, until, until > clock_timestamp() AS lasts
      FROM {pauses}
     WHERE app = (SELECT ask->>'app' FROM asked)
), wide AS MATERIALIZED (
    SELECT name, until, lasts FROM paused WHERE scope = 'prefix'
)
SELECT coalesce(json_agg(json_build_array(
           job_id, schedule, watermark, first_seen,
           greatest(changed_at, CASE WHEN NOT own.lasts THEN own.until END, wider.ended),
           CASE WHEN blocked THEN coalesce((SELECT claimed_by FROM {ticks} AS tick
                                             WHERE tick.app = job.app AND tick.job_id = job.job_id
                                               AND tick.scheduled_at = job.claimed_tick), holder) END,
           CASE WHEN blocked THEN lease_until END,
           greatest(CASE WHEN own.lasts THEN own.until END, wider.lasting) AT TIME ZONE 'UTC',
           last_verdict, last_success_at, failures) ORDER BY job_id COLLATE "C"), '[]')::text
  FROM job
  LEFT JOIN paused AS own ON own.scope = 'job' AND own.name = job.job_id
  LEFT JOIN LATERAL (SELECT max(until) FILTER (WHERE NOT lasts) AS ended,
                            max(until) FILTER (WHERE lasts) AS lasting
                       FROM wide
                      WHERE starts_with(job.job_id, wide.name)) AS wider ON true
""".replace("{holder_is_dead}", is_dead("job.app", "job.holder"))
)
REPLICAS = (
    _ASKED
    + """
SELECT coalesce(json_agg(json_build_array(
           replica_id, label, version, zone_data, pid, started_at, beat_at, healthy_since, dead_at,
           skew, jobs)
           ORDER BY dead_at IS NOT NULL, started_at, replica_id), '[]')::text
  FROM asked JOIN {replicas} AS replica ON replica.app = ask->>'app'
 WHERE dead_at IS NULL OR dead_at > clock_timestamp() - (ask->>'of_late')::float8 * interval '1 second'
"""
)
AUDIT = (
    _ASKED
    + """
, found AS (
    SELECT *
      FROM {audit}
     WHERE app = (SELECT ask->>'app' FROM asked) AND number < (SELECT (ask->>'before')::bigint FROM asked)
     ORDER BY number DESC
     LIMIT (SELECT (ask->>'limit')::int FROM asked)
)
SELECT coalesce(json_agg(json_build_array(number, at, action, target, asked_by, reason,
                                          until AT TIME ZONE 'UTC')
                         ORDER BY number DESC), '[]')::text
  FROM found
"""
)
COUNTS = (
    _ASKED
    + """
, counted AS (
    SELECT verdict, count(*) AS times
      FROM {ticks}
     WHERE app = (SELECT ask->>'app' FROM asked) AND verdict IS NOT NULL
       AND scheduled_at >= (SELECT (ask->>'since')::timestamptz FROM asked)
       AND scheduled_at < (SELECT (ask->>'until')::timestamptz FROM asked)
     GROUP BY verdict
)
SELECT coalesce(json_agg(json_build_array(verdict, times)), '[]')::text FROM counted
"""
)
_TALLY = (
    _ASKED
    + """
, counted AS (
    SELECT floor(date_part('epoch', scheduled_at - {since}) / {step})::int AS stretch, verdict,
           count(*) AS times
      FROM {ticks}
     WHERE app = (SELECT ask->>'app' FROM asked) AND verdict IN ({verdicts})
       AND scheduled_at >= {since} AND scheduled_at < {until}
     GROUP BY stretch, verdict
)
SELECT coalesce(json_agg(json_build_array(stretch, verdict, times)), '[]')::text FROM counted
"""
)
STORE_TIME = "SELECT to_json(clock_timestamp())::text WHERE $1::text IS NOT NULL"


def ticks_sql(
    which: TickFilter, after: Tick | None, order: Order = Order.NEWEST_FIRST
) -> tuple[str, dict[str, object]]:
    """The statement for a page of ticks, and its values but for the app and the limit."""
    conditions, values = _conditions(which)
    way, past = ("ASC", ">") if order is Order.OLDEST_FIRST else ("DESC", "<")
    if after is not None:
        conditions.append(
            f'(scheduled_at, job_id COLLATE "C") {past} '
            "((SELECT (ask->>'after_at')::timestamptz FROM asked), (SELECT ask->>'after_id' FROM asked))"
        )
        values.update(after_at=after.scheduled_at.isoformat(), after_id=after.job_id)
    wanted = "".join(f"       AND {condition}\n" for condition in conditions)
    sql = _TICKS.replace("{conditions}", wanted).replace("{columns}", _TICK_COLUMNS).replace("{way}", way)
    return sql, values


def tally_sql(verdicts: Collection[Verdict], since: datetime, until: datetime, step: int) -> str:
    """The statement that counts by stretches; its only value is the app."""
    span = _TALLY.replace("{since}", _written_out(since)).replace("{until}", _written_out(until))
    return span.replace("{step}", str(step)).replace("{verdicts}", _words(verdicts))


def _words(verdicts: Collection[Verdict]) -> str:
    return ", ".join(f"'{Verdict(one).value}'" for one in verdicts)


def _written_out(instant: datetime) -> str:
    return f"timestamptz '{instant.isoformat()}'"


# Verdicts and spans are no text of anybody's, and stand written out: the planner then knows how rare the ones
# are and how short the others. It goes along the index for a short span, through the whole table, with all
# its workers, for a rare verdict in a long one; of what it cannot see it guesses, and is wrong by far.
def _conditions(which: TickFilter) -> tuple[list[str], dict[str, object]]:
    conditions: list[str] = []
    values: dict[str, object] = {}
    if which.job_id is not None:
        conditions.append("job_id = (SELECT ask->>'job_id' FROM asked)")
        values["job_id"] = which.job_id
    if which.prefix:
        conditions.append("job_id >= (SELECT ask->>'first' FROM asked)")
        conditions.append("job_id <= (SELECT ask->>'last' FROM asked)")
        values["first"], values["last"] = prefix_range(which.prefix)
    if which.verdicts:
        conditions.append(f"verdict IN ({_words(which.verdicts)})")
    if which.replica is not None:
        conditions.append("claimed_by = (SELECT ask->>'replica' FROM asked)")
        values["replica"] = which.replica
    if which.since is not None:
        conditions.append(f"scheduled_at >= {_written_out(which.since)}")
    if which.until is not None:
        conditions.append(f"scheduled_at < {_written_out(which.until)}")
    if which.running:
        conditions.append("token IS NOT NULL AND released_at IS NULL")
    return conditions, values
