"""psycopg 3, sync: the app's ConnectionPool, used from daemon threads."""

from __future__ import annotations

from functools import partial
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

from onebeat.stores.postgres.driver import Ear, Hold, Loan, in_thread, unless_cancelled
from onebeat.stores.postgres.process import SameProcess
from onebeat.stores.postgres.psycopg_listening import listening
from onebeat.stores.postgres.psycopg_statement import ERRORS, label_of_dsn, statement
from onebeat.stores.postgres.transaction_loans import SyncLoan

Pool = ConnectionPool[Connection[Any]]


class AppPool:
    """The app's own pool; any loop will do."""

    loop_bound = None
    kind = "psycopg_pool.ConnectionPool"
    lends_to = (False,)
    errors = ERRORS

    def __init__(self, pool: Pool) -> None:
        self.label = label_of_dsn(pool.conninfo)
        self._pool = pool
        self._process = SameProcess(self.kind)

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        self._process.check()
        hold = Hold()
        work = in_thread(partial(self._borrow, hold, sql, texts, wait))
        return await unless_cancelled(work, hold)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        self._process.check()
        connection = await in_thread(partial(self._pool.getconn, wait))
        return SyncLoan(connection, partial(self._pool.putconn, connection))

    async def listen(self, channel: str) -> Ear | None:
        return await listening(self._pool.conninfo, channel, self._pool.kwargs)

    async def close(self) -> None:
        """The pool is the app's."""

    def _borrow(self, hold: Hold, sql: str, texts: tuple[str, ...], wait: float) -> str | None:
        connection = self._pool.getconn(wait)
        try:
            return statement(connection, hold, sql, texts)
        finally:
            self._pool.putconn(connection)
