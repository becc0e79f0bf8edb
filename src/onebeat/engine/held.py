"""The claims that runs of this replica live under."""

from __future__ import annotations

from collections.abc import Sequence

from onebeat.engine.admission import Admission
from onebeat.errors import Cancelled
from onebeat.fleet import Held
from onebeat.model import Bid


class HeldClaims:
    """On the jobs' loop; `all` from any thread."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Admission, Bid]] = {}

    def take(self, admission: Admission, bid: Bid) -> None:
        """*bid* is won: *admission* lives under it."""
        self._held[bid.token] = admission, bid

    def give_back(self, bid: Bid) -> None:
        """Its run has ended."""
        self._held.pop(bid.token, None)

    def cancel(self, token: str, cause: Cancelled) -> None:
        """Cancel the run that lives under this claim, if one does."""
        if token in self._held:
            self._held[token][0].run.cancel(cause)

    def all(self) -> Sequence[Held]:
        """What is in use now."""
        held = list(self._held.values())  # in one go, whatever comes and goes meanwhile
        return [Held(bid.tick, bid.token, bid.lease) for _, bid in held]
