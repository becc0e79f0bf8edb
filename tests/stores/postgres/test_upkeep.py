"""Pruning among rivals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg

from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.postgres.schema import advisory_key
from tests.stores.postgres.fleet_given import age, join, run, ticks
from tests.stores.postgres.given import bid, claim, claim_and_release, opened

KEEP = timedelta(days=1)
INSTANT = datetime(2026, 1, 1, tzinfo=UTC)


async def test_one_replica_prunes_at_a_time(database: str) -> None:
    """D-PRUNE: for the others it is 0 at once; another app's pruning is no obstacle."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid(Tick("report", INSTANT)))
        with psycopg.connect(database) as rival:
            lock = "SELECT pg_advisory_xact_lock(%s # hashtextextended('app', 0))"
            rival.execute(lock, [advisory_key("prune")])
            assert await store.prune(app="app", keep=KEEP, limit=10) == 0
            assert await store.prune(app="other", keep=KEEP, limit=10) == 0
        assert await store.prune(app="app", keep=KEEP, limit=10) == 1


async def test_pruning_waits_for_no_busy_job(database: str) -> None:
    """D-PRUNE: it leaves that one's rows for the next time, and holds up no claim."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid(Tick("busy", INSTANT)), bid(Tick("idle", INSTANT)))
        async with await psycopg.AsyncConnection.connect(database) as holder:
            await holder.execute("SELECT FROM onebeat_jobs WHERE job_id = 'busy' FOR UPDATE")
            assert await store.prune(app="app", keep=KEEP, limit=10) == 1
        assert await store.prune(app="app", keep=KEEP, limit=10) == 1


def recorded(database: str, count: int, columns: str = "", values: str = "", job_id: str = "report") -> None:
    """Rows of ticks a minute apart, the newest a minute ago."""
    run(
        database,
        f"INSERT INTO onebeat_ticks (app, job_id, scheduled_at {columns}) SELECT 'app', '{job_id}', "
        f"now() - n * interval '1 minute' {values} FROM generate_series(1, {count}) AS n",
    )


async def test_of_each_job_only_the_newest_are_kept(database: str) -> None:
    """D-PRUNE: by count as by age; what is gone is never claimed again, with overlap allowed neither."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a", jobs=("report", "other"))
        recorded(database, 10, ", verdict", ", 'missed'")
        recorded(database, 3, ", verdict", ", 'missed'", job_id="other")
        [[gone]] = run(database, "SELECT scheduled_at FROM onebeat_ticks ORDER BY 1 DESC OFFSET 10 LIMIT 1")
        deleted = [await store.prune(app="app", keep=KEEP, most=4, limit=4) for _ in range(3)]
        assert deleted == [4, 2, 0]
        [answer] = await claim(store, bid(Tick("report", gone), lease=None))
    assert answer.ruling == "claimed"
    assert run(database, "SELECT job_id, count(*) FROM onebeat_ticks GROUP BY 1 ORDER BY 1") == [
        ("other", 3),
        ("report", 4),
    ]


async def test_what_is_held_or_wanted_is_kept(database: str) -> None:
    """D-PRUNE: but a lost tick is run no more once its job has gone on."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        recorded(database, 1, ", token, holder", ", 't', 'h'", "held")
        recorded(database, 1, ", wanted, triggered", ", 'run', true", "wanted")
        rerun = ", token, released_at, verdict, wanted", ", 't', now(), 'lost', 'rerun'"
        recorded(database, 2, *rerun)
        run(database, "UPDATE onebeat_jobs SET watermark = (SELECT max(scheduled_at) FROM onebeat_ticks)")
        await join(store, "a", jobs=("held", "wanted"))
        assert await store.prune(app="app", keep=timedelta(microseconds=1), most=1, limit=10) == 1
        assert await store.prune(app="app", keep=timedelta(microseconds=1), most=1, limit=10) == 0
    assert [job_id for (job_id,) in ticks(database, "job_id")] == ["held", "report", "wanted"]


async def test_the_long_dead_and_old_audit_rows_go_too(database: str) -> None:
    """D-PRUNE: but for whoever has something left without a verdict, and the audit of the last month."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "alive", "dead", "buried", "long dead")
        age(database, "dead", dead_at="2 days")
        age(database, "buried", dead_at="2 hours", buried_at="1 hour")
        age(database, "long dead", dead_at="2 days", buried_at="1 day")
        run(
            database,
            "INSERT INTO onebeat_audit (app, at, action, target, asked_by, reason) "
            "SELECT 'app', now() - n * interval '1 day', 'pause', n, 'ada', '' "
            "FROM unnest(ARRAY[29, 31, 90]) n",
        )
        await store.prune(app="app", keep=60 * KEEP, limit=10)
        assert run(database, "SELECT target FROM onebeat_audit ORDER BY number") == [("29",), ("31",)]
        await store.prune(app="app", keep=KEEP, limit=10)
    assert run(database, "SELECT target FROM onebeat_audit") == [("29",)]
    assert run(database, "SELECT label FROM onebeat_replicas ORDER BY 1") == [
        ("alive",),
        ("buried",),
        ("dead",),
    ]
