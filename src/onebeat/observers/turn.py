"""Joins what happens in one turn of the loop: one wake, or the answers of one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Turn(Generic[T]):
    """Calls *tell* with all that was noted in one turn of the running loop, right after it; where no loop
    runs, at once with each."""

    def __init__(self, tell: Callable[[list[T]], object]) -> None:
        self._tell = tell
        self._noted: list[T] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def note(self, item: T) -> None:
        self._noted.append(item)
        loop = _running_loop()
        if loop is None:
            self._over()
        elif loop is not self._loop:
            self._loop = loop
            loop.call_soon(self._over)

    def _over(self) -> None:
        self._loop = None
        noted, self._noted = self._noted, []
        if noted:
            self._tell(noted)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
