"""Being told at once that the fleet is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from onebeat.errors import ClaimFailed
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.postgres.channel import channel_of
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres
from tests.stores.postgres.fleet_given import run
from tests.stores.postgres.given import opened

_EARS = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"


def call(database: str, app: str = "app") -> None:
    run(database, "SELECT pg_notify($1, '')", channel_of(app))


async def ears(database: str, count: int) -> list[int]:
    """The connections that listen, once there are so many."""
    while True:
        found = [pid for (pid,) in run(database, _EARS)]
        if len(found) == count:
            return found
        await asyncio.sleep(0.01)


async def listening(store: PostgresStore, app: str = "app") -> asyncio.Task[None]:
    """A call of `asked` that waits, its ear open."""
    waiting = asyncio.create_task(store.asked(app=app))
    async with asyncio.timeout(10):
        while not store._ears:  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(0.01)
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    return waiting


@pytest.fixture(params=["DSN", "async pool", "sync pool"])
async def store(request: pytest.FixtureRequest, database: str) -> AsyncIterator[PostgresStore]:
    if request.param == "sync pool":
        with ConnectionPool(database, min_size=1, open=False) as pool:
            yield PostgresStore(pool)
    elif request.param == "async pool":
        async with AsyncConnectionPool(database, min_size=1, open=False) as async_pool:
            yield PostgresStore(async_pool)
    else:
        async with opened(PostgresStore(database)) as (one,):
            yield one


async def test_whoever_listens_is_told_at_once(store: PostgresStore, database: str) -> None:
    """F-PAUSE: of its own app alone; and of what was asked between two calls as well."""
    waiting = await listening(store)
    call(database, "another")
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    call(database)
    await waiting
    call(database)
    await store.asked(app="app")
    waiting = asyncio.create_task(store.asked(app="app"))
    await asyncio.wait({waiting}, timeout=0.1)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert await ears(database, 0) == []


async def test_a_connection_that_breaks_is_a_failure_and_made_again(database: str) -> None:
    """D-DOWN: and whatever was asked meanwhile is looked for at once."""
    async with opened(PostgresStore(database)) as (store,):
        waiting = await listening(store)
        [pid] = await ears(database, 1)
        run(database, "SELECT pg_terminate_backend($1)", pid)
        with pytest.raises(ClaimFailed):
            await waiting
        await store.asked(app="app")
        waiting = await listening(store)
        call(database)
        await waiting
    assert await ears(database, 0) == []


async def test_of_many_told_in_one_moment_none_is_lost(database: str) -> None:
    """F-PAUSE: what a store's own replicas say is nothing new to it, but what others say along with it is."""
    async with opened(PostgresStore(database)) as (store,):
        store._own.add("own")
        waiting = await listening(store)
        with psycopg.connect(database) as asking:
            for payload in ("own", *(f"another {number}" for number in range(500)), "own"):
                asking.execute("SELECT pg_notify(%s, %s)", [channel_of("app"), payload])
        async with asyncio.timeout(10):
            await waiting
            [ear] = store._ears.values()
            heard = [await ear.heard() for _ in range(499)]
    assert sorted(heard) == sorted(f"another {number}" for number in range(1, 500))


async def test_what_is_told_between_a_look_and_the_wait_is_heard(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-PAUSE: the socket is read empty, then something comes, and only then is it waited for."""
    loop = asyncio.get_running_loop()
    add_reader, told = loop.add_reader, []

    def late(descriptor: int, callback: Callable[..., None], *arguments: object) -> None:
        if getattr(callback, "__name__", "") == "set":
            told.append(descriptor)
            call(database)
        add_reader(descriptor, callback, *arguments)

    monkeypatch.setattr(loop, "add_reader", late)
    async with opened(PostgresStore(database)) as (store,), asyncio.timeout(10):
        await store.asked(app="app")
    assert told


async def test_a_store_that_is_closed_keeps_nobody_waiting(database: str) -> None:
    """D-DOWN: and leaves nothing behind in the loop where the next connection would find it."""
    async with opened(PostgresStore(database)) as (store,):
        waiting = await listening(store)
        [ear] = store._ears.values()
        descriptor = ear._connection.fileno()  # type: ignore[attr-defined] # psycopg's
        await store.close()
        async with asyncio.timeout(10):
            with pytest.raises(ClaimFailed):
                await waiting
    assert not asyncio.get_running_loop().remove_reader(descriptor)


async def test_behind_a_pooler_nobody_listens(postgres: Postgres, pgbouncer: PgBouncer) -> None:
    """D-PG: the connection of one transaction would be another's in the next."""
    name = postgres.new_database()
    async with opened(PostgresStore(pgbouncer.dsn(name))) as (store,):
        asked = asyncio.create_task(store.asked(app="app"))
        done, _ = await asyncio.wait({asked}, timeout=0.3)
        assert not done
        assert await ears(postgres.dsn(name), 0) == []
        call(postgres.dsn(name))
        done, _ = await asyncio.wait({asked}, timeout=0.1)
        assert not done
        asked.cancel()


async def test_a_server_that_is_down_is_a_failure() -> None:
    """D-DOWN."""
    async with opened(PostgresStore("postgresql://nobody@127.0.0.1:1/nothing")) as (store,):
        with pytest.raises(ClaimFailed):
            await store.asked(app="app")


def test_channels_are_plain_names_of_their_own() -> None:
    """C-APP: whatever an app is called."""
    apps = ["app", "App", "a" * 200, 'a"b', "größe", "app "]
    channels = {channel_of(app) for app in apps}
    assert len(channels) == len(apps)
    assert all(len(channel) < 63 and channel.isidentifier() for channel in channels)


async def test_a_trigger_is_heard_when_its_transaction_commits(database: str) -> None:
    """F-PAUSE: not before there is anything to see."""
    async with opened(PostgresStore(database)) as (store,):
        waiting = await listening(store)
        with psycopg.connect(database) as asking:
            asking.execute("SELECT pg_notify(%s, '')", [channel_of("app")])
            done, _ = await asyncio.wait({waiting}, timeout=0.1)
            assert not done
        await waiting
