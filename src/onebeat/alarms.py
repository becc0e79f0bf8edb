"""CONTRACT what is wrong right now: alarms, each raised once by the whole fleet."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, cast


def alarm_side(store: object) -> AlarmBook | None:
    """*store* as an AlarmBook; None for one that remembers no alarms."""
    has_all = all(callable(getattr(store, name, None)) for name in ("raise_alarm", "clear_alarm", "sounding"))
    return cast(AlarmBook, store) if has_all else None


class AlarmBook(Protocol):
    """Remembers which alarms sound. All raise ClaimFailed when the store cannot answer."""

    async def raise_alarm(self, key: str, *, app: str) -> bool:
        """Note that the alarm *key* sounds; whether it did not yet: of all replicas one is told so."""

    async def clear_alarm(self, key: str, *, app: str) -> bool:
        """Note that it is over; whether it sounded: of all replicas one is told so."""

    async def sounding(self, *, app: str) -> Collection[str]:
        """The keys of the alarms that sound."""
