"""F-TX: between a transactional body and its server: lost answers, poolers, other defaults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString

import psycopg
import pytest

from onebeat.model import Outcome
from tests.processes.boundaries import Boundary, Side
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres
from tests.stores.postgres.test_transactions import KINDS, named
from tests.stores.postgres.transacted import Handle, Transacted, handle_on, told

CONFIRMATION = b"SET confirmed_at"
CANCELLED: LiteralString = "UPDATE onebeat_ticks SET wanted = 'cancel'"


@asynccontextmanager
async def reached_through(
    postgres: Postgres, database: str, kind: tuple[str, bool], side: Side
) -> AsyncIterator[Handle]:
    """A handle whose connection breaks on this side of the confirmation."""
    async with Boundary(postgres.port, CONFIRMATION, side, strike=lambda: None) as boundary:
        through = boundary.before(database)
        async with handle_on(database, kind[0], to_async=kind[1], through=through) as handle:
            yield handle
        assert boundary.struck.is_set()


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_a_commit_whose_answer_was_lost_is_found_out(
    postgres: Postgres, database: str, kind: tuple[str, bool]
) -> None:
    """F-TX: the connection broke, the run has not failed."""
    async with reached_through(postgres, database, kind, Side.AFTER) as handle:
        ended = await (await Transacted(handle).won()).ended(handle.writing())
    assert ended.outcome is Outcome.RAN, ended.error
    assert handle.effects() == 1


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_a_commit_on_its_way_lands_or_is_foreclosed(
    postgres: Postgres, database: str, kind: tuple[str, bool]
) -> None:
    """F-TX: it races the question that overtakes it; what is said is what is there."""
    async with reached_through(postgres, database, kind, Side.WITHIN) as handle:
        ended = await (await Transacted(handle).won()).ended(handle.writing())
    assert handle.effects() == int(ended.outcome is Outcome.RAN)
    assert handle.confirmed() is (ended.outcome is Outcome.RAN)


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_a_commit_that_never_arrived_has_failed(
    postgres: Postgres, database: str, kind: tuple[str, bool]
) -> None:
    """F-TX: by the driver's own error, and nothing of it can land any more."""
    async with reached_through(postgres, database, kind, Side.BEFORE) as handle:
        ended = await (await Transacted(handle).won()).ended(handle.writing())
    assert ended.outcome is Outcome.FAILED
    assert isinstance(ended.error, psycopg.OperationalError)
    assert told(database, "SELECT verdict FROM onebeat_ticks") == "failed"
    assert handle.effects() == 0


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_a_pooler_in_transaction_mode_does_not_matter(
    postgres: Postgres, pgbouncer: PgBouncer, kind: tuple[str, bool]
) -> None:
    """F-TX, D-PG: what belongs to the transaction is in it, and nothing outlives it."""
    pooled = pgbouncer.dsn(postgres.new_database())
    async with handle_on(pooled, kind[0], to_async=kind[1]) as handle:
        ended = await (await Transacted(handle).won()).ended(handle.writing())
        assert ended.outcome is Outcome.RAN, ended.error
        assert told(pooled, "SELECT coalesce(current_setting('onebeat.claim', true), '')") == ""
    assert told(pooled, "SELECT count(*) FROM effects") == 1


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_the_isolation_is_the_database_s(
    postgres: Postgres, database: str, isolation: LiteralString
) -> None:
    """F-TX: where a transaction must not look back, whoever asked for anything meanwhile fails it."""
    name = database.rpartition("/")[2]
    told(database, f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'")
    async with handle_on(database, "url", to_async=True) as handle:
        ended = await (await Transacted(handle).won()).ended(handle.writing())
        assert ended.outcome is Outcome.RAN, ended.error
        told(database, "DELETE FROM onebeat_jobs; DELETE FROM onebeat_ticks")
        again = await Transacted(handle).won()
        ended = await again.ended(handle.writing(lambda run: told(database, CANCELLED)))
        assert isinstance(ended.error, psycopg.errors.SerializationFailure)
        assert handle.effects() == 1


async def test_many_bodies_share_few_connections(database: str) -> None:
    """F-TX: of a URL there are so many at a time, and whoever has to wait has not failed."""
    async with handle_on(database, "url", to_async=True) as handle:
        room = 16
        loans = [await handle.store._driver.lend(to_async=True, wait=5) for _ in range(room)]
        waiting = asyncio.ensure_future(handle.store._driver.lend(to_async=True, wait=5))
        await asyncio.wait([waiting], timeout=0.05)
        assert not waiting.done()
        await loans.pop().give_back()
        loans.append(await waiting)
        await asyncio.gather(*(loan.give_back() for loan in loans))
