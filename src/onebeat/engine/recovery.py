"""Noticing that a store which had been lost answers again: it may be another server by then."""

from __future__ import annotations

from collections.abc import Callable

from onebeat.errors import ClaimFailure

_LOST = (ClaimFailure.UNAVAILABLE, ClaimFailure.TIMEOUT)


class Recovery:
    """Calls *tell* when what was not answered is answered again. On the jobs' loop.

    Statements of one kind may fail while others get through, so only one of the kind that failed tells of a
    recovery; but it does so for all of them, or each outage would be told several times.
    """

    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell = tell
        self._lost: set[str] = set()

    def failed(self, kind: str, failure: ClaimFailure) -> None:
        if failure in _LOST:
            self._lost.add(kind)

    def answered(self, kind: str) -> None:
        if kind in self._lost:
            self._lost.clear()
            self._tell()
