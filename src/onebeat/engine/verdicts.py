"""Verdicts on ticks that nobody holds, written down together and in the background (F-VERDICT)."""

from __future__ import annotations

import random
from functools import partial

from onebeat.engine.backoff import pause_before
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.pile import Pile, halves
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.fleet import FleetStore
from onebeat.model import Record

_MOST_RECORDS = 1_000
_MOST_WAITING = 100_000


class Verdicts:
    """Hands records to the store, and again while it is down. What no longer fits is not written: then a
    later winner finds those ticks missed."""

    def __init__(self, store: FleetStore, here: Here) -> None:
        self._store = store
        self._here = here
        self._pile: Pile[Record] = Pile(self._send, most=_MOST_RECORDS)

    def add(self, record: Record) -> None:
        """Hand it in. On the loop's thread."""
        if self._pile.waiting < _MOST_WAITING:
            self._pile.add(record)

    async def closed(self) -> None:
        """Return when everything handed in is written down."""
        await self._pile.emptied()

    def abandon(self) -> None:
        """Write nothing more."""
        self._pile.abandon()

    async def _send(self, batch: list[Record]) -> None:
        retry = 0
        while not self._here.is_copy:
            try:
                await self._record(batch)
            except ClaimFailed as error:
                if error.failure is ClaimFailure.REFUSED:
                    await self._halve(batch)
                    return
                retry += 1
                await self._here.clock.sleep(pause_before(retry, error.failure, random.random()))
            else:
                return

    async def _record(self, batch: list[Record]) -> None:
        timeout = self._here.settings.claim_timeout.total_seconds()
        recording = partial(self._store.record, batch, replica=self._here.replica)
        await bounded(recording, timeout, self._here.clock)

    async def _halve(self, batch: list[Record]) -> None:
        """One bad record is dropped alone."""
        if len(batch) > 1:
            for half in halves(batch):
                await self._send(half)
