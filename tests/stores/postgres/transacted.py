"""Runs of transactional bodies, as the engine makes them, on every kind of handle that lends connections."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, LiteralString

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import create_async_engine

from onebeat import Run, Scheduler, SystemClock
from onebeat.engine.admission import Admission
from onebeat.engine.attempt import Attempt, Ended
from onebeat.engine.body import Body
from onebeat.engine.due import Due
from onebeat.engine.here import Here
from onebeat.engine.limits import Limits
from onebeat.engine.threads import Threads
from onebeat.engine.transaction import Transactions
from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore
from onebeat.transactions import WonClaim
from tests.stores.postgres.given import TICK, bid, claim, replica

EFFECT: LiteralString = "INSERT INTO effects (fence) VALUES (1)"


@dataclass(frozen=True)
class Handle:
    """A database as an app has it, and the kind of body that it lends connections to."""

    store: PostgresStore
    database: str
    kind: str
    to_async: bool

    def writing(self, then: Callable[[Run], Any] = lambda run: None) -> Callable[[Run], Any]:
        """A body that writes an effect on the connection of its run, and then does *then*."""

        async def async_body(run: Run) -> None:
            await self.do(run.connection, EFFECT)
            done = then(run)
            if asyncio.iscoroutine(done):
                await done

        def plain_body(run: Run) -> None:
            self.do(run.connection, EFFECT)
            then(run)

        return async_body if self.to_async else plain_body

    def do(self, connection: Any, sql: LiteralString) -> Any:
        """*sql* on a connection of this kind; to be awaited, where bodies are."""
        return connection.execute(text(sql) if self.kind == "sqlalchemy" else sql)

    def effects(self) -> int:
        """How many have been committed."""
        return int(told(self.database, "SELECT count(*) FROM effects"))

    def confirmed(self) -> bool:
        return bool(told(self.database, "SELECT bool_or(confirmed_at IS NOT NULL) FROM onebeat_ticks"))


def told(database: str, sql: LiteralString) -> Any:
    """The one value that *sql* gives, on a connection of its own."""
    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(sql)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


@asynccontextmanager
async def handle_on(
    database: str, kind: str, *, to_async: bool, through: str | None = None
) -> AsyncIterator[Handle]:
    """A handle of this kind, which may reach the database through another place; and a table for effects."""
    told(database, "CREATE TABLE IF NOT EXISTS effects (fence bigint NOT NULL)")
    async with _target(through or database, kind, to_async) as target:
        store = PostgresStore(target)
        yield Handle(store, database, kind, to_async)
        await store.close()


@asynccontextmanager
async def _target(database: str, kind: str, to_async: bool) -> AsyncIterator[object]:
    url = database.replace("postgresql://", "postgresql+psycopg://")
    if kind == "psycopg" and to_async:
        async with AsyncConnectionPool(database, min_size=0, max_size=2, open=False) as async_pool:
            yield async_pool
    elif kind == "psycopg":
        pool = ConnectionPool(database, min_size=0, max_size=2, open=True)
        yield pool
        await asyncio.to_thread(pool.close)  # it waits for its connections, and they may lead through here
    elif kind == "sqlalchemy" and to_async:
        async_engine = create_async_engine(url, pool_size=2, max_overflow=0)
        yield async_engine
        await async_engine.dispose()
    elif kind == "sqlalchemy":
        engine = create_engine(url, pool_size=2, max_overflow=0)
        yield engine
        engine.dispose()
    else:
        yield database


class Transacted:
    """One tick, whose body is to run in a transaction of *handle*'s once its bid has won."""

    def __init__(
        self,
        handle: Handle,
        tick: Tick = TICK,
        *,
        by: str = "a",
        timeout: float = 3600,
        claim_timeout: float = 5,
        attempt: int = 1,
        rerun: bool = False,
    ) -> None:
        self.handle = handle
        self.bid = replace(bid(tick), attempt=attempt, rerun=rerun)
        self.run = Run(tick.job_id, self.bid.token, replica=by, tick=tick)
        self._by = by
        self._settings = Scheduler(timeout=timeout, claim_timeout=claim_timeout)._settings

    @property
    def claim(self) -> WonClaim:
        return WonClaim("app", self.bid.tick, self.bid.token, self.bid.attempt)

    async def bids(self) -> bool:
        """Whether it won."""
        [answer] = await claim(self.handle.store, self.bid, by=self._by)
        if answer.won:
            self.run.fence, self.run.attempt = answer.fence, answer.attempt
        return answer.won

    async def won(self) -> Transacted:
        assert await self.bids()
        return self

    async def ended(self, body: Callable[[Run], Any]) -> Ended:
        """How the run of *body* went, once it is over."""
        threads, transactions = Threads(4, self._here.clock), Transactions(self.handle.store, self._here)
        attempt = Attempt(self._here, threads, Limits(self._here, None), lambda: None, transactions)
        return await attempt.run(self._admission(body))

    def called(self, body: Callable[[Run], Any]) -> Coroutine[Any, Any, None]:
        """*body* in its transaction, and no more than that."""
        threads = Threads(4, self._here.clock)
        return Transactions(self.handle.store, self._here).call(self._admission(body), threads)

    @property
    def _here(self) -> Here:
        return Here(replica(self._by), SystemClock(), lambda event: None, self._settings, os.getpid())

    def _admission(self, body: Callable[[Run], Any]) -> Admission:
        policy = self._settings.policy.with_keywords({"transactional": True})
        return Admission(self.run, Body.of(body), policy, Due(self.bid.tick))
