"""CONTRACT what is wrong right now: alarms, each raised once by the whole fleet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, cast


def alarm_side(store: object) -> AlarmBook | None:
    """*store* as an AlarmBook; None for one that remembers no alarms."""
    has_all = all(callable(getattr(store, name, None)) for name in ("raise_alarm", "clear_alarm", "sounding"))
    return cast(AlarmBook, store) if has_all else None


class Watching(Protocol):
    """Judges alarms, as often as it finds right."""

    def felt(self, living: Sequence[str]) -> None:
        """The replicas of these ids live, says a heartbeat. On the jobs' loop; returns at once."""

    async def close(self) -> None:
        """Judge no more."""


class AlarmBook(Protocol):
    """Remembers which alarms sound. All raise ClaimFailed when the store cannot answer."""

    async def raise_alarm(self, key: str, *, app: str) -> bool:
        """Note that the alarm *key* sounds; whether it did not yet: of all replicas one is told so."""

    async def clear_alarm(self, key: str, *, app: str) -> bool:
        """Note that it is over; whether it sounded: of all replicas one is told so."""

    async def sounding(self, *, app: str) -> Collection[str]:
        """The keys of the alarms that sound."""
