"""CONTRACT what is wrong right now: alarms, each raised once by the whole fleet."""

from __future__ import annotations

from typing import Protocol


class AlarmBook(Protocol):
    """Remembers which alarms sound. Both raise ClaimFailed when the store cannot answer."""

    async def raise_alarm(self, key: str, *, app: str) -> bool:
        """Note that the alarm *key* sounds; whether it did not yet: of all replicas one is told so."""

    async def clear_alarm(self, key: str, *, app: str) -> bool:
        """Note that it is over; whether it sounded: of all replicas one is told so."""
