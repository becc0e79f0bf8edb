"""F-TX: what the guide tells bodies to do on their connection."""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from onebeat import Run
from onebeat.model import Outcome
from tests.stores.postgres.transacted import EFFECT, Transacted, handle_on, told


async def ended_with(database: str, kind: str, body: Any, *, to_async: bool) -> tuple[Outcome, int]:
    """How a run of *body* went, and how many effects there are."""
    async with handle_on(database, kind, to_async=to_async) as handle:
        ended = await (await Transacted(handle).won()).ended(body)
        return ended.outcome, handle.effects()


async def test_a_savepoint_survives_an_error_that_the_body_expects(database: str) -> None:
    """F-TX: of psycopg, inside the transaction."""

    async def body(run: Run) -> None:
        await run.connection.execute(EFFECT)
        with contextlib.suppress(psycopg.errors.UndefinedTable):
            async with run.connection.transaction():
                await run.connection.execute("SELECT FROM nowhere")

    assert await ended_with(database, "url", body, to_async=True) == (Outcome.RAN, 1)


async def test_a_nested_transaction_of_sqlalchemy_is_a_savepoint(database: str) -> None:
    """F-TX: in a thread."""

    def body(run: Run) -> None:
        run.connection.execute(text(EFFECT))
        with contextlib.suppress(DBAPIError), run.connection.begin_nested():
            run.connection.execute(text("SELECT FROM nowhere"))

    assert await ended_with(database, "sqlalchemy", body, to_async=False) == (Outcome.RAN, 1)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_session_on_the_connection_is_flushed_by_its_commit(database: str, fails: bool) -> None:
    """F-TX: and no more than that: what it committed goes back when the body fails after it."""

    def body(run: Run) -> None:
        with Session(run.connection) as session:
            session.execute(text(EFFECT))
            session.commit()
        if fails:
            raise ValueError("after the commit")

    expected = (Outcome.FAILED, 0) if fails else (Outcome.RAN, 1)
    assert await ended_with(database, "sqlalchemy", body, to_async=False) == expected


@pytest.mark.parametrize("fails", [False, True])
async def test_an_async_session_is_too(database: str, fails: bool) -> None:
    """F-TX: in a coroutine."""

    async def body(run: Run) -> None:
        async with AsyncSession(run.connection) as session:
            await session.execute(text(EFFECT))
            await session.commit()
        if fails:
            raise ValueError("after the commit")

    expected = (Outcome.FAILED, 0) if fails else (Outcome.RAN, 1)
    assert await ended_with(database, "sqlalchemy", body, to_async=True) == expected


async def test_a_role_that_may_not_touch_the_claim_fails_the_run(database: str) -> None:
    """F-TX: nothing is committed by whoever could not confirm it."""
    told(database, "DO $$ BEGIN CREATE ROLE clerk; EXCEPTION WHEN duplicate_object THEN END $$")

    async def body(run: Run) -> None:
        await run.connection.execute(EFFECT)
        await run.connection.execute("SET LOCAL ROLE clerk")

    assert await ended_with(database, "url", body, to_async=True) == (Outcome.FAILED, 0)
