"""Joins what arrives while something is being sent: it goes out together, next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Pile(Generic[T]):
    """Items handed in during one turn of the loop are sent as one batch; while a batch is being sent,
    the rest piles up, at most *most* to a batch. `send` never raises and says when the next batch may go
    (C-BATCH)."""

    def __init__(self, send: Callable[[list[T]], Awaitable[None]], *, most: int) -> None:
        self._send = send
        self._most = most
        self._waiting: deque[T] = deque()
        self._sending: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many items wait for their batch."""
        return len(self._waiting)

    def add(self, item: T) -> None:
        self._waiting.append(item)
        if not self._is_sending():
            # A task begins on the loop's next turn: everything handed in until then is in its batch.
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def emptied(self) -> None:
        """Return when nothing waits or is being sent."""
        while self._sending is not None and self._is_sending():
            await asyncio.wait({self._sending})

    def abandon(self) -> None:
        """Send nothing more of what was handed in so far."""
        self._waiting.clear()
        if self._sending is not None:
            self._sending.cancel()

    def _is_sending(self) -> bool:
        """An app that cancels every task of its loop has cancelled the one that sends, too."""
        return self._sending is not None and not self._sending.done()

    async def _send_all(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            await self._send(batch)
        self._sending = None


def halves(batch: list[T]) -> tuple[list[T], list[T]]:
    """*batch* in two: asked again apart, what spoils it is found by itself (C-BATCH)."""
    middle = len(batch) // 2
    return batch[:middle], batch[middle:]
