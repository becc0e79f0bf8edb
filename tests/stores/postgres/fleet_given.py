"""What the tests of the fleet's side of the PostgreSQL store start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from onebeat.fleet import Facts, Pulse, Registration
from onebeat.model import Bid, Tick
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import HOUR, bid, replica

FACTS = Facts("2.0", "2026a", 42)
TTL = timedelta(minutes=1)
INSTANT = datetime(2026, 1, 1, tzinfo=UTC)
NEXT = Tick("report", INSTANT + HOUR)

Levels = Callable[[str], str]


def at_every_level() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("level", ["read committed", "serializable"])


def at_level(postgres: Postgres, level: str) -> str:
    """The DSN of a new database whose transactions are of that isolation level."""
    name = postgres.new_database()
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        setting = psycopg.sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = {}")
        connection.execute(setting.format(psycopg.sql.Identifier(name), level))
    return postgres.dsn(name)


def waiting_bid(of: Bid, *, attempt: int = 1, triggered: bool = False, lease: timedelta | None = HOUR) -> Bid:
    """A bid of its own for the tick of another, as a lost or a triggered one."""
    return Bid(of.tick, bid().token, lease, attempt=attempt, rerun=True, triggered=triggered)


async def join(store: PostgresStore, *names: str, jobs: tuple[str, ...] = ("report",)) -> None:
    for name in names:
        registrations = [Registration(job, "0 * * * *", f"digest of {job}") for job in jobs]
        await store.join(registrations, replica=replica(name), facts=FACTS, now=datetime.now(UTC))


async def beat(store: PostgresStore, name: str = "a") -> Pulse:
    return await store.beat(replica=replica(name), now=datetime.now(UTC), ttl=TTL)


def run(database: str, sql: str, *values: object) -> list[Any]:
    """The rows *sql* gives, on a connection of its own."""
    with psycopg.connect(database, autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
        cursor = connection.execute(sql.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def age(database: str, name: str, **columns: str) -> None:
    """Move instants of a replica's row into the past, each by an interval."""
    moved = ", ".join(f"{column} = clock_timestamp() - interval '{by}'" for column, by in columns.items())
    run(database, f"UPDATE onebeat_replicas SET {moved} WHERE label = $1", name)


def die(database: str, name: str, ago: str = "1 second") -> None:
    age(database, name, dead_at=ago)


def ticks(database: str, columns: str) -> list[Any]:
    return run(database, f"SELECT {columns} FROM onebeat_ticks ORDER BY job_id, scheduled_at")


def job(database: str, columns: str, job_id: str = "report") -> Any:
    [row] = run(database, f"SELECT {columns} FROM onebeat_jobs WHERE job_id = $1", job_id)
    return row


def pause(database: str, scope: str, name: str, until: str = "infinity") -> None:
    run(
        database,
        "INSERT INTO onebeat_pauses VALUES ('app', $1, $2, now(), $3, 'ada', 'repairs') "
        "ON CONFLICT (app, scope, name) DO UPDATE SET until = excluded.until",
        scope,
        name,
        until,
    )


def triggered(database: str, tick: Tick) -> None:
    run(
        database,
        "INSERT INTO onebeat_ticks (app, job_id, scheduled_at, triggered, wanted, asked_by, reason) "
        "VALUES ('app', $1, $2, true, 'run', 'ada', 'asked for')",
        tick.job_id,
        tick.scheduled_at,
    )


@contextmanager
def rows_locked(database: str, table: str) -> Iterator[psycopg.Connection]:
    """Somebody else holds all rows of *table*; what is done on the connection is committed at the end."""
    with psycopg.connect(database) as holder:
        holder.execute(f"SELECT FROM {table} FOR UPDATE".encode())
        yield holder
