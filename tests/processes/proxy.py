"""A TCP proxy before PostgreSQL that loses answers: it cuts the connection in place of handing one on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Self

from onebeat import Tick
from tests.servers.postgres import Postgres

_CLAIM = re.compile(rb"SELECT \S*onebeat_claim\(")
_BID = re.compile(rb'"number": (\d+), "job_id": "([^"]+)", "scheduled_at": "([^"]+)"')
_WIN = re.compile(rb'\[(\d+), "won"')
_BLOCK = 1 << 16
_READY_FOR_QUERY = b"Z\x00\x00\x00\x05I"
"""How a server's answer ends once its statement is committed."""


class LossyProxy:
    """Hands on what a client says; *loses* is asked, for every claim statement, whether to lose its answer.

    The answer is lost after the commit. `lost_wins` names the ticks that a lost answer said were won.
    """

    def __init__(self, postgres: Postgres, *, loses: Callable[[], bool]) -> None:
        self._server_port = postgres.port
        self._loses = loses
        self.lost_wins: set[Tick] = set()
        self._connections: set[asyncio.Task[None] | None] = set()

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._listening.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        # All of them end, for whoever came through here has gone: else they outlive the test's loop.
        await asyncio.gather(*(task for task in self._connections if task is not None))

    def dsn(self, database: str) -> str:
        # In plain text, because the proxy must read what passes through it.
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}?sslmode=disable"

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self._connections.add(asyncio.current_task())
        server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        asked = bytearray()
        ways = {
            asyncio.ensure_future(_hand_on(client, to_server, asked)),
            asyncio.ensure_future(self._answer(server, to_client, asked)),
        }
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for writer in (to_server, to_client):
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(
        self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter, asked: bytearray
    ) -> None:
        """Hand answers on until one is to be lost; that of a claim is held until it is whole."""
        answer = b""
        while block := await server.read(_BLOCK):
            answer += block
            claim = _CLAIM.search(asked)
            if claim and not answer.endswith(_READY_FOR_QUERY):
                continue
            if claim and self._loses():
                self.lost_wins.update(_wins(bytes(asked), answer))
                return
            asked.clear()
            to_client.write(answer)
            await to_client.drain()
            answer = b""


async def _hand_on(client: asyncio.StreamReader, to_server: asyncio.StreamWriter, asked: bytearray) -> None:
    while block := await client.read(_BLOCK):
        asked += block
        to_server.write(block)
        await to_server.drain()


def _wins(asked: bytes, answer: bytes) -> Iterator[Tick]:
    won = set(_WIN.findall(answer))
    for number, job_id, scheduled_at in _BID.findall(asked):
        if number in won:
            yield Tick(job_id.decode(), datetime.fromisoformat(scheduled_at.decode()))
