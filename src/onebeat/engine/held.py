"""The claims that runs of this replica live under, and those given back of late."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from onebeat.clock import Clock
from onebeat.engine.admission import Admission
from onebeat.errors import Cancelled
from onebeat.fleet import Held
from onebeat.model import Bid, Release

_OF_LATE = timedelta(minutes=2).total_seconds()
_MOST_RECENT = 1_000


class HeldClaims:
    """On the jobs' loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, tuple[Admission, Bid]] = {}
        self._recent: deque[tuple[float, Bid, Release]] = deque(maxlen=_MOST_RECENT)

    def take(self, admission: Admission, bid: Bid) -> None:
        """*bid* is won: *admission* lives under it."""
        self._held[bid.token] = admission, bid

    def give_back(self, bid: Bid, release: Release) -> None:
        """It has ended."""
        self._held.pop(bid.token, None)
        self._recent.append((self._clock.monotonic(), bid, release))

    def cancel(self, token: str, cause: Cancelled) -> None:
        """Cancel the run that lives under this claim, if one does."""
        if token in self._held:
            self._held[token][0].run.cancel(cause)

    def all(self) -> Sequence[Held]:
        """What is in use now."""
        return [Held(bid.tick, bid.token, bid.lease) for _, bid in self._held.values()]

    def recent(self) -> Sequence[tuple[Bid, Release]]:
        """What was given back within the last two minutes, the newest of each job."""
        since = self._clock.monotonic() - _OF_LATE
        newest = {bid.tick.job_id: (bid, release) for at, bid, release in self._recent if at >= since}
        return list(newest.values())
