"""F-TX: which jobs may be transactional, on which store; refused when they are registered, not at night."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from onebeat import Scheduler
from onebeat.errors import InvalidJob

URL = "postgresql://nobody@127.0.0.1:1/nowhere"
ON_PSYCOPG = URL.replace("postgresql", "postgresql+psycopg")


async def coroutine() -> None: ...


def plain() -> None: ...


STORES: dict[str, tuple[Callable[[], Any], str]] = {
    "none": (lambda: None, ""),
    "memory": (lambda: "memory://", ""),
    "sqlite": (lambda: "sqlite:///jobs.db", ""),
    "asyncpg": (lambda: asyncpg.create_pool(URL), ""),
    "async engine on asyncpg": (lambda: create_async_engine(URL.replace("ql", "ql+asyncpg")), ""),
    "async pool": (lambda: AsyncConnectionPool(URL, open=False), "async"),
    "sync pool": (lambda: ConnectionPool(URL, open=False), "plain"),
    "async engine": (lambda: create_async_engine(ON_PSYCOPG), "async"),
    "sync engine": (lambda: create_engine(ON_PSYCOPG), "plain"),
    "url": (lambda: URL, "async plain"),
}


@pytest.mark.parametrize("body", [coroutine, plain])
@pytest.mark.parametrize("name", STORES)
async def test_a_transactional_job_is_refused_where_its_body_could_get_no_connection(
    name: str, body: Callable[[], Any]
) -> None:
    """F-TX: what to do is said; nothing is registered."""
    target, serves = STORES[name]
    scheduler = Scheduler(target())
    if ("async" if body is coroutine else "plain") in serves:
        scheduler.add("job", "@hourly", body, transactional=True)
        return
    with pytest.raises(InvalidJob, match=r"transactional.*URL"):
        scheduler.add("job", "@hourly", body, transactional=True)
    assert scheduler.jobs == ()


@pytest.mark.parametrize("other", [{"on_every_replica": True}, {"isolation": "process"}], ids=str)
def test_a_transactional_job_is_claimed_and_runs_in_this_process(other: Any) -> None:
    """F-TX: without a claim there is nothing to confirm, and no connection goes to another process."""
    with pytest.raises(InvalidJob, match="transactional"):
        Scheduler(URL).add("job", "@hourly", plain, transactional=True, **other)


async def test_work_on_demand_has_no_connection() -> None:
    """F-TX, C-DEMAND: it claims nothing, also under the id of a transactional job."""
    seen: list[Any] = []
    async with Scheduler(URL, claim_timeout=0.1) as scheduler:
        scheduler.add("job", "@yearly", plain, transactional=True)
        scheduler.run_once("job", lambda run: seen.append(run.connection))
        await scheduler.idle()
    assert seen == [None]
