"""Claims in this process's memory: for tests, and for several schedulers in one process (D-MEM)."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from onebeat.clock import Clock
from onebeat.stores.bell import Bell
from onebeat.stores.sqlite.embedded import Work
from onebeat.stores.sqlite.failures import told_by
from onebeat.stores.sqlite.private import PrivateDatabase
from onebeat.stores.sqlite.sides import EmbeddedStore

T = TypeVar("T")


class MemoryStore(EmbeddedStore):
    """Forgets everything when the process ends, and is seen by nobody outside it.

    Safe from several threads and loops. A tick later than *clock* by more than *tolerance* is refused
    as early (C-EARLY).
    """

    label = "memory"

    def __init__(self, *, clock: Clock | None = None, tolerance: float | timedelta = 5) -> None:
        super().__init__(clock, tolerance)
        self._database = PrivateDatabase()
        self._bell = Bell()

    async def asked(self, *, app: str) -> None:
        """Whatever the app: a beat too many costs nothing."""
        await self._bell.heard()

    async def close(self) -> None:
        """Nothing was opened; what was claimed stays claimed."""

    async def _write(self, work: Work[T], *, timeout: timedelta | None = None) -> T:
        with told_by(self.label), self._database.writing() as db:
            return work(db)

    def _wake(self) -> None:
        self._bell.ring()

    async def _read(self, work: Work[T]) -> T:
        with told_by(self.label), self._database.reading() as db:
            return work(db)
