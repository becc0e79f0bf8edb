"""psycopg 3, async: a DSN with a pool of our own, or the app's AsyncConnectionPool."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from onebeat.stores.postgres.driver import Ear, Hold, Loan, unless_cancelled
from onebeat.stores.postgres.process import SameProcess
from onebeat.stores.postgres.psycopg_listening import listening
from onebeat.stores.postgres.psycopg_statement import ERRORS, async_statement, label_of_dsn
from onebeat.stores.postgres.transaction_connections import Connections
from onebeat.stores.postgres.transaction_loans import AsyncLoan

Pool = AsyncConnectionPool[AsyncConnection[Any]]


class AppPool:
    """The app's own pool. It serves only the loop it was opened on."""

    loop_bound = kind = "psycopg_pool.AsyncConnectionPool"
    lends_to = (True,)
    errors = ERRORS

    def __init__(self, pool: Pool) -> None:
        self.label = label_of_dsn(pool.conninfo)
        self._pool = pool
        self._process = SameProcess(self.loop_bound)

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        self._process.check()
        return await _fetch(self._pool, sql, texts, wait)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        self._process.check()
        connection = await self._pool.getconn(wait)
        return AsyncLoan(connection, lambda: self._pool.putconn(connection))

    async def listen(self, channel: str) -> Ear | None:
        return await listening(self._pool.conninfo, channel, self._pool.kwargs)

    async def close(self) -> None:
        """The pool is the app's."""


class OwnPool:
    """A small pool of our own, opened in the loop, and in the process, that first asks it something.

    After a fork, or on another loop, it opens anew; what was opened elsewhere is left alone there.
    """

    loop_bound = None
    kind = "a URL"
    lends_to = (True, False)
    errors = ERRORS

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        label_of_dsn(dsn)  # what libpq cannot read is refused now
        self._pools: dict[tuple[int, asyncio.AbstractEventLoop], Pool] = {}
        self._connections = Connections()

    @property
    def label(self) -> str:
        return label_of_dsn(self._conninfo())

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        return await _fetch(await self._opened(), sql, texts, wait)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        return await self._connections.lend(self._conninfo(), to_async=to_async, wait=wait)

    async def listen(self, channel: str) -> Ear | None:
        return await listening(self._conninfo(), channel)

    async def close(self) -> None:
        pool = self._pools.pop(self._here(), None)
        if pool is not None:
            await pool.close()

    def _conninfo(self) -> str:
        """What to connect with, whenever that is."""
        return self._dsn

    async def _opened(self) -> Pool:
        here = self._here()
        if here not in self._pools:
            self._pools[here] = self._new_pool()
        # Each time: another task may have made it a moment ago and be opening it still.
        await self._pools[here].open()
        return self._pools[here]

    def _new_pool(self) -> Pool:
        """Few connections, because a statement carries many bids. A connection that cannot be had is
        tried again after 1 and 3 seconds, then when it is next asked for: no storm, no long silence."""
        return AsyncConnectionPool(
            self._conninfo(),
            min_size=0,
            max_size=4,
            open=False,
            name="onebeat",
            max_idle=600,
            reconnect_timeout=5,
            kwargs={"autocommit": True, "prepare_threshold": None},
        )

    @staticmethod
    def _here() -> tuple[int, asyncio.AbstractEventLoop]:
        return os.getpid(), asyncio.get_running_loop()


async def _fetch(pool: Pool, sql: str, texts: tuple[str, ...], wait: float) -> str | None:
    hold = Hold()
    work = asyncio.ensure_future(_borrow(pool, hold, sql, texts, wait))
    return await unless_cancelled(work, hold)


async def _borrow(pool: Pool, hold: Hold, sql: str, texts: tuple[str, ...], wait: float) -> str | None:
    connection = await pool.getconn(wait)
    try:
        return await async_statement(connection, hold, sql, texts)
    finally:
        await pool.putconn(connection)
