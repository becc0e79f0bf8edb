"""How the tables come to be, and what is said when they cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from onebeat.errors import ClaimFailed, InvalidSetting, StoreUnusable
from onebeat.history import TickFilter
from onebeat.stores.postgres import (
    ALARMS,
    AUDIT,
    JOBS,
    MIGRATIONS,
    PAUSES,
    PERMITS,
    REPLICAS,
    TICKS,
    PostgresStore,
    migrate,
    migration_sql,
)
from onebeat.stores.postgres.schema import advisory_key, newest_version
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import TIMEOUT, bid, claim, ended, opened, replica, waiting

TABLES = (JOBS, TICKS, REPLICAS, PAUSES, AUDIT, PERMITS, ALARMS, MIGRATIONS)


@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
async def test_eight_first_starts_at_once_make_the_tables_once(postgres: Postgres, isolation: str) -> None:
    """D-PG: whatever the default isolation of the database."""
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'")
    async with opened(*(PostgresStore(postgres.dsn(name)) for _ in range(8))) as stores:
        answers = await asyncio.gather(*(claim(store, bid()) for store in stores))
    assert [answer.won for [answer] in answers].count(True) == 1
    made = postgres.run("SELECT version FROM onebeat_migrations ORDER BY version", database=name)
    assert made == [(version,) for version in range(1, newest_version() + 1)]


async def test_the_first_claims_of_one_store_may_come_at_once(database: str) -> None:
    """D-PG, D-POOL: its pool is opened once, its tables are made once, and none of the claims fails."""
    async with opened(PostgresStore(database)) as (store,):
        answers = await asyncio.gather(*(claim(store, bid()) for _ in range(8)))
    assert [answer.won for [answer] in answers].count(True) == 1


async def test_eight_first_starts_go_through_a_pooler(postgres: Postgres, pgbouncer: PgBouncer) -> None:
    """D-PG: the lock ends with its statement, so PgBouncer in transaction mode is no obstacle."""
    dsn = pgbouncer.dsn(postgres.new_database())
    async with opened(*(PostgresStore(dsn) for _ in range(8))) as stores:
        answers = await asyncio.gather(*(claim(store, bid()) for store in stores))
    assert [answer.won for [answer] in answers].count(True) == 1


async def test_a_migration_waits_for_the_one_under_way(database: str) -> None:
    """D-PG: by a lock that ends with its statement."""
    with psycopg.connect(database) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [advisory_key("migrations")])
        migrating = asyncio.create_task(migrate(database))
        await waiting(database, 1)
    await migrating


async def test_the_tables_are_the_public_ones(postgres: Postgres) -> None:
    """D-PG: `onebeat_*`, and only once however often they are asked for."""
    name = postgres.new_database()
    await migrate(postgres.dsn(name))
    await migrate(postgres.dsn(name))
    tables = postgres.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database=name)
    assert {table for (table,) in tables} == set(TABLES)


async def test_a_role_without_create_is_told_what_to_do(postgres: Postgres) -> None:
    """D-PG: the message names `onebeat migrate --sql`; once that was run, the role can claim."""
    name = postgres.new_database()
    with psycopg.connect(postgres.dsn(name), autocommit=True) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        admin.execute("DROP ROLE IF EXISTS plain")
        admin.execute("CREATE ROLE plain LOGIN")
        async with opened(PostgresStore(postgres.dsn(name, user="plain"))) as (store,):
            with pytest.raises(StoreUnusable, match="onebeat migrate --sql"):
                await store.migrate()
            with pytest.raises(ClaimFailed, match="onebeat migrate --sql"):
                await store.claim([bid()], replica=replica(), timeout=TIMEOUT)
            admin.execute(migration_sql())
            with pytest.raises(ClaimFailed, match="grant"):
                await store.claim([bid()], replica=replica(), timeout=TIMEOUT)
            admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(TABLES)} TO plain")
            [answer] = await claim(store, bid())
            assert answer.won
            with pytest.raises(StoreUnusable, match="onebeat migrate --sql"):
                await migrate(postgres.dsn(name, user="plain"), schema="another")
        admin.execute("DROP OWNED BY plain")
        admin.execute("DROP ROLE plain")


async def test_tables_of_a_newer_release_are_refused(database: str) -> None:
    """D-PG: what a newer onebeat has changed this one cannot know."""
    await migrate(database)
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("INSERT INTO onebeat_migrations (version, name) VALUES (999, 'from the future')")
    async with opened(PostgresStore(database)) as (store,):
        with pytest.raises(StoreUnusable, match="999"):
            await store.migrate()
        with pytest.raises(ClaimFailed, match="999"):
            await store.claim([bid()], replica=replica(), timeout=TIMEOUT)


async def test_tables_that_vanish_are_made_again(database: str) -> None:
    """D-DOWN: a database restored empty costs one statement, not the scheduler."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid())
        with psycopg.connect(database, autocommit=True) as admin:
            admin.execute(f"DROP TABLE {', '.join(TABLES)}")
        with pytest.raises(ClaimFailed, match="42P01"):
            await claim(store, bid())
        [answer] = await claim(store, bid())
        assert answer.won


@pytest.mark.parametrize("schema", [None, "of our's"])
async def test_functions_that_vanish_are_made_again(database: str, schema: str | None) -> None:
    """D-DOWN: by whoever asks next, as tables are; one of them alone, too."""
    place = "public" if schema is None else '"of our\'s"'
    one = bid()
    async with opened(PostgresStore(database, schema=schema)) as (store,):

        async def run() -> None:
            await store.claim([one], replica=replica(), timeout=TIMEOUT)
            await store.release([ended(one)], replica=replica())

        await run()
        for function in ("onebeat_claim", "onebeat_release"):
            with psycopg.connect(database, autocommit=True) as admin:
                admin.execute(f"DROP FUNCTION {place}.{function}".encode())
            with pytest.raises(ClaimFailed, match=r"42883.*made again by the next claim"):
                await run()
            await run()


async def test_functions_of_a_newer_release_are_not_made_again_by_an_older_one(database: str) -> None:
    """D-PG: what a newer onebeat has dropped this one cannot know to be needed."""
    await migrate(database)
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("INSERT INTO onebeat_migrations (version, name) VALUES (999, 'from the future')")
        admin.execute("DROP FUNCTION onebeat_claim")
        async with opened(PostgresStore(database)) as (store,):
            with pytest.raises(StoreUnusable, match="999"):
                await store.migrate()
        assert admin.execute("SELECT to_regprocedure('onebeat_claim(text, text)')").fetchone() == (None,)


async def test_a_role_that_cannot_reach_the_functions_is_told_what_to_do(postgres: Postgres) -> None:
    """D-PG: it lacks EXECUTE, or they are gone and it may not make them; once mended, it can claim."""
    name = postgres.new_database()
    await migrate(postgres.dsn(name))
    with psycopg.connect(postgres.dsn(name), autocommit=True) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        admin.execute("REVOKE EXECUTE ON FUNCTION onebeat_claim FROM PUBLIC")
        admin.execute("DROP ROLE IF EXISTS bare")
        admin.execute("CREATE ROLE bare LOGIN")
        admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(TABLES)} TO bare")
        async with opened(PostgresStore(postgres.dsn(name, user="bare"))) as (store,):
            with pytest.raises(ClaimFailed, match=r"onebeat_claim.*EXECUTE on its functions"):
                await claim(store, bid())
            admin.execute("DROP FUNCTION onebeat_claim")
            for advice in ("made again by the next claim", "onebeat migrate --sql", "onebeat migrate --sql"):
                with pytest.raises(ClaimFailed, match=advice):
                    await claim(store, bid())
            admin.execute(migration_sql())
            [answer] = await claim(store, bid())
            assert answer.won
        admin.execute("DROP OWNED BY bare")
        admin.execute("DROP ROLE bare")


@pytest.mark.parametrize("schema", ["", "a" * 64, "nul\0", "\udcff", b"app", 5])
def test_a_schema_that_cannot_be_is_refused_at_construction(schema: Any) -> None:
    """D-PG: not at the first tick."""
    with pytest.raises(InvalidSetting, match="schema"):
        PostgresStore("postgresql://localhost/db", schema=schema)


@pytest.mark.parametrize("schema", [None, "mistyped"])
async def test_whoever_looks_where_nothing_is_finds_nothing_and_leaves_nothing(
    database: str, schema: str | None
) -> None:
    """D-PG: neither a schema nor tables come of a question; what is found there, once somebody made it, is
    told by the same store."""
    made = (
        "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'mistyped')"
        " + (SELECT count(*) FROM pg_class WHERE relname LIKE 'onebeat%')"
    )
    async with opened(PostgresStore(database, schema=schema)) as (store,):
        with psycopg.connect(database, autocommit=True) as admin:
            assert await store.job("report", app="app") is None
            assert list((await store.ticks(TickFilter(), app="app", limit=1)).rows) == []
            assert list(await store.replicas(app="app")) == []
            assert await store.store_time() is not None
            assert admin.execute(made).fetchone() == (0,)
        async with opened(PostgresStore(database, schema=schema)) as (other,):
            await claim(other, bid())
        assert len((await store.ticks(TickFilter(), app="app", limit=1)).rows) == 1


async def test_whoever_looks_leaves_older_tables_to_those_who_write_there(database: str) -> None:
    """D-PG: a newer release's look does not take the tables away from replicas of an older one."""
    await migrate(database)
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("DELETE FROM onebeat_migrations WHERE version > 1")
        async with opened(PostgresStore(database)) as (store,):
            with pytest.raises(
                ClaimFailed, match=f"version 1, older than {newest_version()}.*onebeat migrate"
            ):
                await store.replicas(app="app")
        assert admin.execute("SELECT count(*) FROM onebeat_migrations").fetchone() == (1,)


async def test_a_role_whose_statements_are_cut_short_is_told_which_setting_does_it(
    postgres: Postgres,
) -> None:
    """D-PG: making the tables alone takes longer than a web app may allow its own statements."""
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET statement_timeout = '1ms'")
    async with opened(PostgresStore(postgres.dsn(name))) as (store,):
        with pytest.raises(ClaimFailed, match=r"ALTER ROLE .* SET statement_timeout"):
            await claim(store, bid())
