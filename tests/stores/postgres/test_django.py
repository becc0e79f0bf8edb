"""D-POOL: Django's connection names a database; what Django does with it is its own affair."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import django  # type: ignore[import-untyped]
import pytest
from django.conf import settings  # type: ignore[import-untyped]
from django.db.utils import ConnectionHandler  # type: ignore[import-untyped]
from django.utils.connection import ConnectionProxy  # type: ignore[import-untyped]

from onebeat import Outcome, Scheduler, Tick
from onebeat.errors import ClaimFailed, InvalidSetting
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import TICK, bid, claim, claim_and_release, opened
from tests.stores.postgres.transacted import Handle, Transacted, told

if not settings.configured:
    settings.configure(USE_TZ=True, LOGGING_CONFIG=None)
    django.setup()


def databases(database: str, **options: Any) -> ConnectionHandler:
    """`django.db.connections`, of an app whose default database is *database*."""
    place = urlsplit(database)
    default = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": place.path.strip("/"),
        "USER": place.username,
        "PASSWORD": "swordfish",
        "HOST": place.hostname,
        "PORT": place.port,
        "ATOMIC_REQUESTS": True,
        "OPTIONS": options,
    }
    return ConnectionHandler({"default": default})


@pytest.fixture
def connections(database: str) -> Iterator[ConnectionHandler]:
    handler = databases(database)
    yield handler
    handler.close_all()


async def test_django_s_connection_is_a_store(connections: ConnectionHandler) -> None:
    """D-POOL: as `django.db.connection`, and as one of `connections`; its password is not shown."""
    for handle in (ConnectionProxy(connections, "default"), connections["default"]):
        async with opened(PostgresStore(handle)) as (store,):
            await claim_and_release(store, bid())
            assert store.label.startswith("postgresql://127.0.0.1:")
            assert "swordfish" not in store.label


def test_a_claim_stays_out_of_django_s_transaction(connections: ConnectionHandler, database: str) -> None:
    """D-POOL: it is there although the app rolls back, and after Django has closed its connection."""
    app = connections["default"]
    store = PostgresStore(app)
    app.set_autocommit(False)
    with app.cursor() as cursor:
        cursor.execute("SELECT 1")
    asyncio.run(claim_and_release(store, bid()))
    app.rollback()
    app.close()
    assert told(database, "SELECT verdict FROM onebeat_ticks") == "ran"


async def test_a_restart_of_the_database_costs_django_nothing() -> None:
    """D-POOL, D-DOWN: and what Django still holds of before is not looked at."""
    with Postgres() as server:
        handler = databases(server.dsn())
        async with opened(PostgresStore(handler["default"])) as (store,):
            await claim(store, bid(Tick("before", TICK.scheduled_at)))
            server.restart()
            with suppress(ClaimFailed):  # the engine asks again by itself
                await claim(store, bid(Tick("meanwhile", TICK.scheduled_at)))
            [answer] = await claim(store, bid(Tick("after", TICK.scheduled_at)))
            assert answer.won


async def test_the_settings_are_read_when_we_connect(
    connections: ConnectionHandler, postgres: Postgres
) -> None:
    """D-POOL: the runner of Django's tests gives the app another database after the scheduler was made."""
    store = PostgresStore(ConnectionProxy(connections, "default"))
    connections["default"].settings_dict["NAME"] = name = postgres.new_database()
    async with opened(store):
        await claim_and_release(store, bid())
    assert told(postgres.dsn(name), "SELECT count(*) FROM onebeat_ticks") == 1


async def test_what_django_adds_to_the_settings_of_libpq_is_understood(
    database: str, postgres: Postgres
) -> None:
    """D-POOL: options of Django's own are left to it, but for the role that the app takes on."""
    told(database, 'DROP ROLE IF EXISTS "shop keeper"')
    told(database, 'CREATE ROLE "shop keeper"')
    told(database, 'CREATE SCHEMA kept AUTHORIZATION "shop keeper"')
    handler = databases(
        database, assume_role="shop keeper", isolation_level=3, pool=True, options="-c search_path=kept"
    )
    async with opened(PostgresStore(handler["default"])) as (store,):
        await claim(store, bid())
    assert (
        told(database, "SELECT tableowner FROM pg_tables WHERE tablename = 'onebeat_ticks'") == "shop keeper"
    )
    told(database, "DROP SCHEMA kept CASCADE")
    told(database, 'DROP ROLE "shop keeper"')


def test_another_database_than_postgresql_is_refused() -> None:
    """D-POOL: with what to do instead."""
    handler = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
    with pytest.raises(InvalidSetting, match=r"connection to sqlite.*a URL"):
        Scheduler(handler["default"])


async def test_a_transactional_body_has_a_connection_of_its_own(
    connections: ConnectionHandler, database: str
) -> None:
    """F-TX: psycopg's, to the database of Django's settings, for plain bodies and coroutines."""
    told(database, "CREATE TABLE effects (fence bigint NOT NULL)")
    store = PostgresStore(connections["default"])
    for number, to_async in enumerate((True, False)):
        handle = Handle(store, database, "django", to_async)
        one = Transacted(handle, Tick(f"job {number}", TICK.scheduled_at))
        assert (await (await one.won()).ended(handle.writing())).outcome is Outcome.RAN
    await store.close()
    assert handle.effects() == 2
