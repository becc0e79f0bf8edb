"""One statement on a psycopg 3 connection that somebody lends, sync or async."""

from __future__ import annotations

from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from onebeat.errors import InvalidSetting
from onebeat.stores.postgres.driver import Hold, label_of, sever

ERRORS: tuple[type[Exception], ...] = (psycopg.Error, OSError)


def statement(
    connection: psycopg.Connection[Any], hold: Hold, sql: str, texts: tuple[str, ...]
) -> str | None:
    """*sql* in autocommit, to which the connection is put for it alone; nothing is prepared."""
    if not hold.take(partial(sever, connection.fileno())):
        return None
    autocommit = connection.autocommit
    try:
        connection.autocommit = True
        cursor = psycopg.RawCursor(connection, row_factory=tuple_row)
        cursor.execute(sql, texts or None, prepare=False)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None
    finally:
        if not connection.closed:
            connection.autocommit = autocommit
        hold.let_go()


async def async_statement(
    connection: psycopg.AsyncConnection[Any], hold: Hold, sql: str, texts: tuple[str, ...]
) -> str | None:
    """The same on an async connection."""
    if not hold.take(partial(sever, connection.fileno())):
        return None
    autocommit = connection.autocommit
    try:
        await connection.set_autocommit(True)
        cursor = psycopg.AsyncRawCursor(connection, row_factory=tuple_row)
        await cursor.execute(sql, texts or None, prepare=False)
        row = await cursor.fetchone() if cursor.description else None
        return row[0] if row else None
    finally:
        if not connection.closed:
            await connection.set_autocommit(autocommit)
        hold.let_go()


def label_of_dsn(dsn: object) -> str:
    """The place *dsn* names; a pool may also have its conninfo from a callable, which tells nothing.

    Raises InvalidSetting for a text libpq cannot read.
    """
    try:
        parts = conninfo_to_dict(dsn) if isinstance(dsn, str) else {}
    except psycopg.ProgrammingError:
        # Not chained: libpq's message repeats the text, password and all.
        raise InvalidSetting("store", "a DSN", "one that libpq can read: postgresql://user@host/db") from None
    return label_of(parts.get("host"), parts.get("port"), parts.get("dbname"))


def is_closed(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    return connection.closed
