"""One statement on an asyncpg connection that somebody lends."""

from __future__ import annotations

from typing import Any

import asyncpg  # type: ignore[import-untyped]

from onebeat.stores.postgres.driver import Hold

ERRORS: tuple[type[Exception], ...] = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)


async def async_statement(connection: Any, hold: Hold, sql: str, texts: tuple[str, ...]) -> str | None:
    """*sql* outside a transaction block, where asyncpg commits by itself; nothing prepared has a name."""
    if not hold.take(connection.terminate):
        return None
    try:
        prepared = await connection.prepare(sql, name="")
        # Parsed once more in the message that runs it, as asyncpg itself does it without a cache: behind
        # a pooler in transaction mode the next message may meet another server, where nothing is prepared.
        prepared._state.mark_unprepared()
        answer: str | None = await prepared.fetchval(*texts)
        return answer
    finally:
        hold.let_go()


def is_closed(connection: Any) -> bool:
    return bool(connection.is_closed())
