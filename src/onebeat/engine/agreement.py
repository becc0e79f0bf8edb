"""Looks for replicas that disagree, a while after anybody came or went (F-DRIFT)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from onebeat.drift import TOLERATED_SPAN, disagreements
from onebeat.engine.here import Here
from onebeat.events import ReplicasDisagree
from onebeat.fleet import Pulse
from onebeat.history import RunHistory


class Agreement:
    """Reads the replicas once for each change among the living, when a rolling deploy would be over: an
    idle fleet asks nothing."""

    def __init__(self, history: RunHistory, here: Here, *, ask: Callable[..., Awaitable[Any]]) -> None:
        self._history = history
        self._here = here
        self._ask = ask
        self._living: frozenset[str] = frozenset()
        self._look_at: float | None = None
        self._told: set[str] = set()

    async def look(self, pulse: Pulse) -> list[ReplicasDisagree]:
        """What is new to be told after this beat. Raises ClaimFailed when the store cannot answer."""
        now = self._here.clock.monotonic()
        if frozenset(pulse.living) != self._living:
            self._living = frozenset(pulse.living)
            self._look_at = now + TOLERATED_SPAN.total_seconds()
        if self._look_at is None or now < self._look_at:
            return []
        replicas = await self._ask(lambda: self._history.replicas(app=self._here.replica.app))
        self._look_at = None
        found = disagreements(replicas, now=pulse.store_time)
        fresh = [one for one in found if str(one) not in self._told]
        self._told = {str(one) for one in found}
        return [ReplicasDisagree(str(one), one.job_id) for one in fresh]
