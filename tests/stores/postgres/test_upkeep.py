"""Pruning among rivals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg

from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.postgres.schema import advisory_key
from tests.stores.postgres.given import bid, claim_and_release, opened

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
