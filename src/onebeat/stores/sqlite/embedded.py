"""What every side of an embedded store stands on: its rows are read and written here, one at a time."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import timedelta
from typing import TypeAlias, TypeVar

from onebeat.clock import Clock, SystemClock
from onebeat.model import checked_duration
from onebeat.stores.ruling import micros

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], T]
"""What is done with the database's rows while it stands still."""


class Embedded(ABC):
    """A store whose rules run in this process, over an SQLite database; its clock is this replica's own."""

    loop_bound = None

    def __init__(self, clock: Clock | None, tolerance: float | timedelta) -> None:
        self._clock = clock or SystemClock()
        self.tolerance = checked_duration("tolerance", tolerance)

    @abstractmethod
    async def _write(self, work: Work[T], *, timeout: timedelta | None = None) -> T:
        """What *work* returns, called as the database's only writer: all of it is kept, or nothing.

        Waits for other writers, for *timeout* at most. Raises ClaimFailed for whatever goes wrong.
        """

    @abstractmethod
    async def _read(self, work: Work[T]) -> T:
        """What *work* reads, all of it as it stood at one moment. Never waits for a writer."""

    def _wake(self) -> None:  # noqa: B027
        """Somebody has asked the fleet for something: whoever can be told is told."""

    def _now(self) -> int:
        """Microseconds since the Unix epoch."""
        return micros(self._clock.now())
