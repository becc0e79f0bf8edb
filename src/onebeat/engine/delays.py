"""Ticks that wait a moment before they are asked for: their head start, their jitter, a store's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from onebeat.clock import Clock, Timer
from onebeat.engine.due import Due


class Delays:
    """Calls *admit* with each due once its seconds have passed. Those that came in one turn of the loop and
    wait equally long share a timer, and so their bids one statement."""

    def __init__(self, clock: Clock, admit: Callable[[Due], object]) -> None:
        self._clock = clock
        self._admit = admit
        self._waiting: dict[Due, Timer] = {}
        self._arriving: dict[float, tuple[list[Due], Timer]] = {}

    def add(self, due: Due, seconds: float) -> None:
        """On the loop's thread. Asked again for a due that waits already, it changes nothing."""
        if due in self._waiting:
            return
        if not self._arriving:
            asyncio.get_running_loop().call_soon(self._arrived)
        if seconds not in self._arriving:
            group: list[Due] = []
            self._arriving[seconds] = group, self._clock.call_later(seconds, partial(self._over, group))
        group, timer = self._arriving[seconds]
        group.append(due)
        self._waiting[due] = timer

    def give_up(self) -> list[Due]:
        """Admit none of them any more; which they were."""
        given_up = list(self._waiting)
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        return given_up

    def _arrived(self) -> None:
        self._arriving = {}

    def _over(self, group: list[Due]) -> None:
        for due in group:
            if self._waiting.pop(due, None) is not None:
                self._admit(due)
