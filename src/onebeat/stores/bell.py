"""How those who share a store within one process wake each other."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Lock
from weakref import WeakKeyDictionary


class Bell:
    """Rung in any thread, heard on every loop that listens.

    What rings between two calls of `heard` on one loop is heard by the second.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rung = 0
        self._heard: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
        self._listeners: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        with self._lock:
            self._rung += 1
            listeners, self._listeners = self._listeners, set()
        for listener in listeners:
            with suppress(RuntimeError):  # its loop has been closed
                listener.get_loop().call_soon_threadsafe(_rouse, listener)

    async def heard(self) -> None:
        """Return once it has been rung."""
        loop = asyncio.get_running_loop()
        listener: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self._heard.get(loop, 0) == self._rung:
                self._listeners.add(listener)
            else:
                listener.set_result(None)
        try:
            await listener
        finally:
            with self._lock:
                self._listeners.discard(listener)
        with self._lock:
            self._heard[loop] = self._rung


def _rouse(listener: asyncio.Future[None]) -> None:
    if not listener.done():
        listener.set_result(None)
