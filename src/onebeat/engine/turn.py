"""How long a replica keeps what others may wait for."""

from __future__ import annotations

_SHORTEST, _LONGEST = 5.0, 40.0


class Turn:
    """Seconds during which a replica hands permits on from run to run of its own. It doubles each time that
    the others were let in, and is at its shortest again once one of them has come."""

    def __init__(self) -> None:
        self._since = 0.0
        self._length = _SHORTEST

    def begin(self, now: float) -> None:
        """The replica had nothing until now."""
        self._since = now

    def over(self, now: float) -> bool:
        """Whether the others are to be let in; the next turn begins then."""
        if now - self._since < self._length:
            return False
        self._since = now
        self._length = min(2 * self._length, _LONGEST)
        return True

    def shorten(self) -> None:
        """Others want them, too."""
        self._length = _SHORTEST
