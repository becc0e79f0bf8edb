"""How the fleet's store is, asked for once for all who look."""

from __future__ import annotations

from collections.abc import Sequence

from onebeat.clock import SystemClock
from onebeat.doctor import Finding
from onebeat.insight.examined import examined
from onebeat.web.reading import Reader
from onebeat.web.remembered import Remembered


class Doctor:
    """What `onebeat doctor` finds, as of a minute ago at most: he looks long."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._found: Remembered[Sequence[Finding]] = Remembered()

    async def findings(self) -> Sequence[Finding]:
        """None for a store that he does not know. Raises ClaimFailed when the store cannot answer."""
        return await self._found.get("findings", self._examine)

    async def _examine(self) -> Sequence[Finding]:
        if not callable(getattr(self._reader.store, "fleet_health", None)):
            return ()
        return await examined(self._reader.store, self._reader.app, here=SystemClock().now())
