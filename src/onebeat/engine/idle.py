"""The signal that the last busy id has ended."""

from __future__ import annotations

import asyncio
from collections import deque


class IdleSignal:
    """One signal is kept if nobody waits; it wakes one waiter; several may merge; it may be stale (J-ACTIVE).

    Given and awaited on the loop's own thread.
    """

    def __init__(self) -> None:
        self._kept = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def give(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._kept = True

    async def wait(self) -> None:
        """Return on the next signal, or on the one that was kept."""
        if self._kept:
            self._kept = False
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.give()  # woken and cancelled at once: the signal goes to the next, not astray
            raise
