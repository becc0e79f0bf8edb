"""Deletes old tick rows, now and then, a few at a time."""

from __future__ import annotations

import random
from functools import partial

from onebeat.claims import ClaimStore
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.errors import ClaimFailed
from onebeat.events import PruneFailed

_EVERY = 600.0
_AT_ONCE = 1_000


class Pruner:
    """Keeps the history within its retention; nothing about claims depends on it (D-PRUNE)."""

    def __init__(self, store: ClaimStore, here: Here) -> None:
        self._store = store
        self._here = here

    async def run(self) -> None:
        """Until cancelled. Replicas that started together do not prune together."""
        while True:
            await self._here.clock.sleep(_EVERY * (0.5 + random.random()))
            try:
                await self._prune()
            except ClaimFailed as error:
                self._here.observe(PruneFailed(error))

    async def _prune(self) -> None:
        app, settings = self._here.replica.app, self._here.settings
        deleted = _AT_ONCE
        while deleted >= _AT_ONCE:
            pruning = partial(
                self._store.prune,
                app=app,
                keep=settings.retention,
                most=settings.retention_count,
                limit=_AT_ONCE,
            )
            deleted = await bounded(pruning, settings.claim_timeout.total_seconds(), self._here.clock)
