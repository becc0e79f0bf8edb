"""Ticks that wait a moment before they are asked for: their head start, their jitter, a store's clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from onebeat.clock import Clock, Timer
from onebeat.engine.due import Due


class Delays:
    """Calls *admit* with each due once its seconds have passed. Those of one instant that wait equally long
    share a timer, and so their bids a statement."""

    def __init__(self, clock: Clock, admit: Callable[[Due], object]) -> None:
        self._clock = clock
        self._admit = admit
        self._waiting: dict[Due, Timer] = {}
        self._groups: dict[tuple[datetime, float], tuple[list[Due], Timer]] = {}

    def add(self, due: Due, seconds: float) -> None:
        """On the loop's thread. Asked again for a due that waits already, it changes nothing."""
        if due in self._waiting:
            return
        key = due.tick.scheduled_at, seconds
        if key not in self._groups:
            self._groups[key] = [], self._clock.call_later(seconds, partial(self._over, key))
        group, timer = self._groups[key]
        group.append(due)
        self._waiting[due] = timer

    def give_up(self) -> list[Due]:
        """Admit none of them any more; which they were."""
        given_up = list(self._waiting)
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self._groups.clear()
        return given_up

    def _over(self, key: tuple[datetime, float]) -> None:
        group, _ = self._groups.pop(key)
        for due in group:
            if self._waiting.pop(due, None) is not None:
                self._admit(due)
