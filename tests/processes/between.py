"""A place between clients and a server, from which what they say can be read, cut or kept back."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, NamedTuple, Self

Way = Coroutine[Any, Any, None]


class Ends(NamedTuple):
    """What is read and written on either side of a connection."""

    client: asyncio.StreamReader
    to_client: asyncio.StreamWriter
    server: asyncio.StreamReader
    to_server: asyncio.StreamWriter


class Between(ABC):
    """Listens on `port` and hands on to *server_port*; where one way of a connection ends, all of it does."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._connections: set[asyncio.Task[None] | None] = set()

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._listening.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        # All of them end, for whoever came through here has gone or died: else they outlive the test.
        await asyncio.gather(*(task for task in self._connections if task is not None))

    @abstractmethod
    def _ways(self, ends: Ends) -> tuple[Way, Way]:
        """What hands on a new connection: there, and back."""

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self._connections.add(asyncio.current_task())
        server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        ends = Ends(client, to_client, server, to_server)
        ways = {asyncio.ensure_future(way) for way in self._ways(ends)}
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for writer in (to_server, to_client):
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
