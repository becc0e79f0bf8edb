"""psycopg 3 connections lent to bodies, async and sync."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from onebeat.stores.postgres.driver import in_thread, sever
from onebeat.stores.postgres.psycopg_statement import ERRORS

GiveBack = Callable[[], Awaitable[None]]


class AsyncLoan:
    """*raw* for an `async def`, which sees it as *connection*.

    What the body does stands in a block of psycopg's inside the transaction: there psycopg refuses to commit
    and to roll back, also where SQLAlchemy asks it.
    """

    def __init__(
        self, raw: psycopg.AsyncConnection[Any], give_back: GiveBack, connection: object = None
    ) -> None:
        self.connection: Any = connection or raw
        self.give_back = give_back
        self._raw = raw
        self._autocommit = raw.autocommit
        self._block: AbstractAsyncContextManager[object] | None = None

    async def begin(self, sql: str, *texts: str) -> str | None:
        await self._raw.set_autocommit(False)
        answer = await self._ask(sql, *texts)
        block = self._raw.transaction("onebeat")
        await block.__aenter__()
        self._block = block
        return answer

    async def commit(self, sql: str) -> None:
        check_open(self._raw)
        block, self._block = self._block, None
        if block is not None:
            await block.__aexit__(None, None, None)
        await self._ask(sql)

    async def undo(self) -> None:
        block, self._block = self._block, None
        try:
            if block is not None:
                await block.__aexit__(psycopg.Rollback, psycopg.Rollback(), None)
            await self._raw.rollback()
            await self._raw.set_autocommit(self._autocommit)
        except ERRORS:
            await self._raw.close()

    def cut(self) -> None:
        _cut(self._raw)

    async def _ask(self, sql: str, *texts: str) -> str | None:
        cursor = psycopg.AsyncRawCursor(self._raw, row_factory=tuple_row)
        await cursor.execute(sql, texts or None, prepare=False)
        row = await cursor.fetchone() if cursor.description else None
        return row[0] if row else None


class SyncLoan:
    """The same for a plain body; each step in a thread, for none may block the loop."""

    def __init__(
        self, raw: psycopg.Connection[Any], give_back: Callable[[], object], connection: object = None
    ) -> None:
        self.connection: Any = connection or raw
        self._give_back = give_back
        self._raw = raw
        self._autocommit = raw.autocommit
        self._block: AbstractContextManager[object] | None = None

    def begin(self, sql: str, *texts: str) -> asyncio.Future[str | None]:
        return in_thread(partial(self._begin, sql, *texts))

    def commit(self, sql: str) -> asyncio.Future[None]:
        return in_thread(partial(self._commit, sql))

    def undo(self) -> asyncio.Future[None]:
        return in_thread(self._undo)

    async def give_back(self) -> None:
        await in_thread(self._give_back)

    def cut(self) -> None:
        _cut(self._raw)

    def _begin(self, sql: str, *texts: str) -> str | None:
        self._raw.autocommit = False
        answer = self._ask(sql, *texts)
        block = self._raw.transaction("onebeat")
        block.__enter__()
        self._block = block
        return answer

    def _commit(self, sql: str) -> None:
        check_open(self._raw)
        block, self._block = self._block, None
        if block is not None:
            block.__exit__(None, None, None)
        self._ask(sql)

    def _undo(self) -> None:
        block, self._block = self._block, None
        try:
            if block is not None:
                block.__exit__(psycopg.Rollback, psycopg.Rollback(), None)
            self._raw.rollback()
            self._raw.autocommit = self._autocommit
        except ERRORS:
            self._raw.close()

    def _ask(self, sql: str, *texts: str) -> str | None:
        cursor = psycopg.RawCursor(self._raw, row_factory=tuple_row)
        cursor.execute(sql, texts or None, prepare=False)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def check_open(raw: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Raise RuntimeError where the body has ended the transaction itself, by an SQL of its own."""
    if not raw.closed and raw.info.transaction_status is TransactionStatus.IDLE:
        raise RuntimeError("the body ended its transaction itself: what it committed by that stays")


def _cut(raw: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    with suppress(*ERRORS):  # closed already
        sever(raw.fileno())
