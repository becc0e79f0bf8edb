"""Calls from any thread, made on the loop's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Posting:
    """What is posted is called on the loop's thread, soon and in order; before the loop is there, with it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._posted: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._lock = threading.RLock()  # a signal's handler may post while its thread is posting
        self._taking = False

    @property
    def open(self) -> bool:
        """Whether the loop is there."""
        return self._loop is not None

    def deliver_here(self) -> None:
        """From now on to the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            self._loop, self._taking = loop, True
        loop.call_soon(self._take)

    def post(self, call: Callable[..., object], *arguments: Any) -> None:
        """Have it called."""
        with self._lock:
            self._posted.append((call, arguments))
            if self._loop is None or self._taking:
                return
            self._taking = True
            with suppress(RuntimeError):  # the loop is closed: it has all ended
                # From the loop's own thread too: it may be a signal's handler, and the loop asleep.
                self._loop.call_soon_threadsafe(self._take)

    def _take(self) -> None:
        with self._lock:
            self._taking = False
            posted, self._posted = self._posted, []
        for call, arguments in posted:
            call(*arguments)
