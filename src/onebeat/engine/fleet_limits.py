"""Permits of a limit that all replicas of the app share."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from onebeat.engine.backoff import pause_before
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.tasks import Tasks
from onebeat.errors import ClaimFailed
from onebeat.permits import Permits

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0
"""Seconds between two askings while none is left: growing, and half of it at random."""


class FleetLimit:
    """Of the runs here at most *most* wait for the store at a time; the others wait for these, first come,
    first served. A store that cannot answer is asked again: nothing runs without its permit."""

    def __init__(self, prefix: str, most: int, store: Permits, here: Here) -> None:
        self._prefix = prefix
        self._most = most
        self._store = store
        self._here = here
        self._local = asyncio.Semaphore(most)
        self._given_back = asyncio.Event()
        self._giving_back = Tasks()

    @asynccontextmanager
    async def permit(self, token: str, lease: timedelta) -> AsyncIterator[None]:
        """Hold one, under *token*, for *lease* at most. Waiting for it may be cancelled."""
        async with self._local:
            try:
                await self._taken(token, lease)
                yield
            finally:
                # Also after a cancellation: the statement may have landed all the same.
                self._giving_back.spawn(self._give_back(token, lease))

    async def closed(self) -> None:
        """Return when every permit has been given back."""
        await self._giving_back.ended()

    def abandon(self) -> None:
        """Give nothing more back: the leases end by themselves."""
        self._giving_back.cancel()

    async def _taken(self, token: str, lease: timedelta) -> None:
        pause = _FIRST_PAUSE
        while not await self._take(token, lease):
            self._given_back.clear()
            await self._woken_or_slept(pause * (0.5 + random.random() / 2))
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _take(self, token: str, lease: timedelta) -> bool:
        taking = partial(
            self._store.take_permit,
            self._prefix,
            most=self._most,
            token=token,
            lease=lease,
            replica=self._here.replica,
        )
        try:
            return await bounded(taking, self._timeout, self._here.clock)
        except ClaimFailed:
            return False

    async def _woken_or_slept(self, seconds: float) -> None:
        """Until a run here gives its permit back: elsewhere one does so unheard."""
        timer = self._here.clock.call_later(seconds, self._given_back.set)
        try:
            await self._given_back.wait()
        finally:
            timer.cancel()

    async def _give_back(self, token: str, lease: timedelta) -> None:
        returning = partial(self._store.return_permit, self._prefix, token=token, replica=self._here.replica)
        until = self._here.clock.monotonic() + lease.total_seconds()
        retry = 0
        while not self._here.is_copy and self._here.clock.monotonic() < until:
            try:
                await bounded(returning, self._timeout, self._here.clock)
            except ClaimFailed as error:
                retry += 1
                await self._here.clock.sleep(pause_before(retry, error.failure, random.random()))
            else:
                self._given_back.set()
                return

    @property
    def _timeout(self) -> float:
        return self._here.settings.claim_timeout.total_seconds()
