"""SQLAlchemy: the app's Engine or AsyncEngine, for the raw psycopg or asyncpg connection below it.

The raw one, because the engine's own would open a transaction, and an isolation level set on it would stay.
"""

from __future__ import annotations

import asyncio
from functools import partial
from importlib import import_module
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from onebeat.errors import InvalidSetting
from onebeat.stores.postgres.driver import Hold, Loan, in_thread, label_of, unless_cancelled


class AppEngine:
    """The app's own sync engine; any loop will do."""

    loop_bound = None
    kind = "sqlalchemy.Engine"
    lends_to = (False,)

    def __init__(self, engine: Engine) -> None:
        if engine.driver != "psycopg":
            raise _unknown(engine.driver, "postgresql+psycopg://")
        self.label = _label(engine.url)
        self._psycopg: Any = import_module("onebeat.stores.postgres.psycopg_statement")
        self.errors: tuple[type[Exception], ...] = (SQLAlchemyError, *self._psycopg.ERRORS)
        self._loans: Any = import_module("onebeat.stores.postgres.transaction_loans")
        self._engine = engine

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        """*wait* is the engine's own `pool_timeout` here."""
        hold = Hold()
        work = in_thread(partial(self._borrow, hold, sql, texts))
        return await unless_cancelled(work, hold)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        return await in_thread(self._lend)

    async def listen(self, channel: str) -> None:
        """Not on a connection of the app's."""

    async def close(self) -> None:
        """The engine is the app's."""

    def _borrow(self, hold: Hold, sql: str, texts: tuple[str, ...]) -> str | None:
        with self._engine.connect() as borrowed:
            connection: Any = borrowed.connection.driver_connection
            try:
                answer: str | None = self._psycopg.statement(connection, hold, sql, texts)
                return answer
            finally:
                if connection.closed:
                    borrowed.invalidate()

    def _lend(self) -> Loan:
        borrowed = self._engine.connect()
        try:
            borrowed.begin()
            raw: Any = borrowed.connection.driver_connection
        except BaseException:
            borrowed.close()
            raise

        def give_back() -> None:
            if raw.closed:
                borrowed.invalidate()
            borrowed.close()

        loan: Loan = self._loans.SyncLoan(raw, give_back, borrowed)
        return loan


class AppAsyncEngine:
    """The app's own async engine. It serves only the loop it is used on."""

    loop_bound = kind = "sqlalchemy.ext.asyncio.AsyncEngine"

    def __init__(self, engine: AsyncEngine) -> None:
        self.label = _label(engine.url)
        self._raw = _raw_driver(engine.driver)
        self.errors: tuple[type[Exception], ...] = (SQLAlchemyError, *self._raw.ERRORS)
        self._engine = engine
        self.lends_to = (True,) if engine.driver == "psycopg" else ()

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        """*wait* is the engine's own `pool_timeout` here."""
        hold = Hold()
        work = asyncio.ensure_future(self._borrow(hold, sql, texts))
        return await unless_cancelled(work, hold)

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        borrowed = await self._engine.connect()
        try:
            await borrowed.begin()
            raw: Any = (await borrowed.get_raw_connection()).driver_connection
        except BaseException:
            await borrowed.close()
            raise

        async def give_back() -> None:
            if raw.closed:
                await borrowed.invalidate()
            await borrowed.close()

        loans: Any = import_module("onebeat.stores.postgres.transaction_loans")
        loan: Loan = loans.AsyncLoan(raw, give_back, borrowed)
        return loan

    async def listen(self, channel: str) -> None:
        """Not on a connection of the app's."""

    async def close(self) -> None:
        """The engine is the app's."""

    async def _borrow(self, hold: Hold, sql: str, texts: tuple[str, ...]) -> str | None:
        async with self._engine.connect() as borrowed:
            connection: Any = (await borrowed.get_raw_connection()).driver_connection
            try:
                answer: str | None = await self._raw.async_statement(connection, hold, sql, texts)
                return answer
            finally:
                if self._raw.is_closed(connection):
                    await borrowed.invalidate()


def _raw_driver(name: str) -> Any:
    if name == "psycopg":
        return import_module("onebeat.stores.postgres.psycopg_statement")
    if name == "asyncpg":
        return import_module("onebeat.stores.postgres.asyncpg_statement")
    raise _unknown(name, "postgresql+psycopg:// or postgresql+asyncpg://")


def _unknown(driver: str, expected: str) -> InvalidSetting:
    return InvalidSetting("store", f"an engine on {driver}", f"an engine on {expected}")


def _label(url: URL) -> str:
    return label_of(url.host, url.port, url.database)
