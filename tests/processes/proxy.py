"""A TCP proxy before PostgreSQL that loses answers: it cuts the connection in place of handing one on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import datetime

from onebeat import Tick
from tests.processes.between import Between, Ends, Way
from tests.servers.postgres import Postgres

_CLAIM = re.compile(rb"SELECT \S*onebeat_claim\(")
_BID = re.compile(rb'"number": (\d+), "job_id": "([^"]+)", "scheduled_at": "([^"]+)"')
_WIN = re.compile(rb'\[(\d+), "won"')
_BLOCK = 1 << 16
_READY_FOR_QUERY = b"Z\x00\x00\x00\x05I"
"""How a server's answer ends once its statement is committed."""


class LossyProxy(Between):
    """Hands on what a client says; *loses* is asked, for every claim statement, whether to lose its answer.

    The answer is lost after the commit. `lost_wins` names the ticks that a lost answer said were won.
    """

    def __init__(self, postgres: Postgres, *, loses: Callable[[], bool]) -> None:
        super().__init__(postgres.port)
        self._loses = loses
        self.lost_wins: set[Tick] = set()

    def dsn(self, database: str) -> str:
        # In plain text, because the proxy must read what passes through it.
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def _ways(self, ends: Ends) -> tuple[Way, Way]:
        asked = bytearray()
        return _hand_on(ends.client, ends.to_server, asked), self._answer(ends.server, ends.to_client, asked)

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
