"""psycopg 3: a connection of its own that hears what is notified on a channel."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

# Dead peers are found out within two minutes, unless the DSN has another wish.
_ALIVE = {"keepalives_idle": 60, "keepalives_interval": 15, "keepalives_count": 4}


class Listening:
    """See Ear."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection
        self._heard: dict[str, None] = {}
        self._woken = asyncio.Event()

    async def heard(self) -> str:
        """Woken by the socket alone: left to itself, psycopg looks ten times a second."""
        while not self._heard:
            if self._connection.closed:
                raise psycopg.OperationalError("the connection has ended")
            # To its end: those of one packet come together, and who stops before the last has lost it.
            async for notify in self._connection.notifies(timeout=0):
                self._heard[notify.payload] = None
            if not self._heard:
                await self._readable()
        payload = next(iter(self._heard))
        del self._heard[payload]
        return payload

    async def close(self) -> None:
        """Whoever waits is told that it has ended."""
        if not self._connection.closed:
            # While the descriptor is still ours: the next socket may get its number.
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
        self._woken.set()
        await self._connection.close()

    async def _readable(self) -> None:
        """Return when there is something to be read, or nothing any more."""
        loop, descriptor = asyncio.get_running_loop(), self._connection.fileno()
        self._woken.clear()
        loop.add_reader(descriptor, self._woken.set)
        try:
            await self._woken.wait()
        finally:
            if not self._connection.closed:
                loop.remove_reader(descriptor)


async def listening(dsn: object, channel: str, more: object = None) -> Listening | None:
    """*more* are a pool's own options. None behind a pooler, and where *dsn* is no text: the app's pool then
    makes it as it goes."""
    if not isinstance(dsn, str):
        return None
    options: dict[str, Any] = {**_ALIVE, **conninfo_to_dict(dsn), **_texts(more)}
    connection = await psycopg.AsyncConnection.connect(**options, autocommit=True, prepare_threshold=None)
    try:
        if await _is_direct(connection):
            await connection.execute(f'LISTEN "{channel}"')
            return Listening(connection)
    except BaseException:
        await connection.close()
        raise
    await connection.close()
    return None


def _texts(more: object) -> dict[str, str]:
    """Those that say where and as whom to connect, not how to behave then."""
    options = more if isinstance(more, dict) else {}
    return {key: value for key, value in options.items() if isinstance(value, str)}


async def _is_direct(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether the server that answers is the one that shook hands: a pooler gives a number of its own, and
    would let whoever comes next listen instead of us."""
    cursor = await connection.execute("SELECT pg_backend_pid()")
    return await cursor.fetchone() == (connection.info.backend_pid,)
