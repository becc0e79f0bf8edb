"""A TCP proxy before PostgreSQL at which a client is struck down, at one boundary between two statements."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from enum import StrEnum

from tests.processes.between import Between, Ends, Way

_BLOCK = 1 << 16
_ANSWERED = re.compile(rb"Z\x00\x00\x00\x05[ITE]$")
"""How a server's whole answer ends."""


class Side(StrEnum):
    BEFORE = "before"  # the server never hears of the statement
    WITHIN = "within"  # the server works on it
    AFTER = "after"  # it is done, but nobody hears the answer


class Boundary(Between):
    """Hands on what a client says until it says *statement*; on that *side* of it, *strike* is called, and
    the connection ends. `struck` is set then."""

    def __init__(self, port: int, statement: bytes, side: Side, *, strike: Callable[[], object]) -> None:
        super().__init__(port)
        self._statement = statement
        self._side = side
        self._strike = strike
        self.struck = asyncio.Event()

    def before(self, database: str) -> str:
        """The DSN of the same database, reached through here; in plain text, for it must be read."""
        there = database.replace(f":{self._server_port}/", f":{self.port}/")
        return f"{there}?sslmode=disable&gssencmode=disable"

    def _ways(self, ends: Ends) -> tuple[Way, Way]:
        said: asyncio.Queue[bool] = asyncio.Queue()
        return self._ask(ends.client, ends.to_server, said), self._answer(ends.server, ends.to_client, said)

    async def _ask(
        self, client: asyncio.StreamReader, to_server: asyncio.StreamWriter, said: asyncio.Queue[bool]
    ) -> None:
        while block := await client.read(_BLOCK):
            here = self._statement in block and not self.struck.is_set()
            if here and self._side is Side.BEFORE:
                self._struck()
                return
            if here and self._side is Side.AFTER:
                said.put_nowait(True)
            to_server.write(block)
            await to_server.drain()
            if here and self._side is Side.WITHIN:
                self._struck()
                return

    async def _answer(
        self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter, said: asyncio.Queue[bool]
    ) -> None:
        answer = b""
        while block := await server.read(_BLOCK):
            answer += block
            if not said.empty():
                if _ANSWERED.search(answer):
                    self._struck()
                    return
                continue
            to_client.write(answer)
            await to_client.drain()
            answer = b""

    def _struck(self) -> None:
        self._strike()
        self.struck.set()
