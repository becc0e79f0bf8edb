"""asyncpg: the app's Pool."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from onebeat.errors import InvalidSetting
from onebeat.stores.postgres.asyncpg_statement import ERRORS, async_statement
from onebeat.stores.postgres.driver import Hold, Loan, label_of, unless_cancelled
from onebeat.stores.postgres.process import SameProcess


class AppPool:
    """The app's own pool. It serves only the loop it was made on."""

    loop_bound = kind = "asyncpg.Pool"
    lends_to = ()
    errors = ERRORS

    def __init__(self, pool: Any) -> None:
        self.label = _label(pool)
        self._pool = pool
        self._process = SameProcess(self.loop_bound)

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        self._process.check()
        hold = Hold()
        work = asyncio.ensure_future(self._borrow(hold, sql, texts, wait))
        return await unless_cancelled(work, hold)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        """Refused when the job is registered."""
        raise InvalidSetting("store", self.kind, "a pool that lends connections to bodies")

    async def listen(self, channel: str) -> None:
        """Not on a connection of the app's."""

    async def close(self) -> None:
        """The pool is the app's."""

    async def _borrow(self, hold: Hold, sql: str, texts: tuple[str, ...], wait: float) -> str | None:
        connection = await self._pool.acquire(timeout=wait)
        try:
            return await async_statement(connection, hold, sql, texts)
        finally:
            await self._pool.release(connection)


def _label(pool: Any) -> str:
    """asyncpg keeps what its pool was made with to itself; a label may be short of it, if it must."""
    [dsn] = getattr(pool, "_connect_args", None) or [None]
    options = getattr(pool, "_connect_kwargs", {})
    parts = urlsplit(dsn or "")
    return label_of(
        options.get("host") or parts.hostname,
        options.get("port") or parts.port,
        options.get("database") or parts.path.strip("/"),
    )
