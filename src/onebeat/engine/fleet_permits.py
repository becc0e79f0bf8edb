"""Asking the store for the permits of one limit, and telling when it cannot answer."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

from onebeat.engine.backoff import pause_before
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.events import PermitsFailed, StoreRecovered
from onebeat.permits import Permits

T = TypeVar("T")


class FleetPermits:
    """The permits of *prefix*, of which there are *most*. `waiting` says how many runs wait for one here."""

    def __init__(
        self, prefix: str, most: int, store: Permits, here: Here, waiting: Callable[[], int]
    ) -> None:
        self._prefix = prefix
        self._most = most
        self._store = store
        self._here = here
        self._waiting = waiting
        self._failures = 0
        self._failing_since = 0.0

    async def take(self, token: str, lease: timedelta) -> bool:
        """Whether *token* has one now. Raises ClaimFailed, and then it may have one all the same."""
        replica = self._here.replica
        return await self._answered(
            partial(
                self._store.take_permit,
                self._prefix,
                most=self._most,
                token=token,
                lease=lease,
                replica=replica,
            )
        )

    async def give_back(self, token: str, lease: timedelta) -> None:
        """Ask until the store has answered, or *lease* has ended what there was to give back."""
        clock = self._here.clock
        returning = partial(self._store.return_permit, self._prefix, token=token, replica=self._here.replica)
        until = clock.monotonic() + lease.total_seconds()
        retry = 0
        while not self._here.is_copy and clock.monotonic() < until:
            try:
                await self._answered(returning)
            except ClaimFailed as error:
                retry += 1
                await clock.sleep(pause_before(retry, error.failure, random.random()))
            else:
                return

    async def _answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        began = self._here.clock.monotonic()
        try:
            answer = await bounded(ask, self._here.settings.claim_timeout.total_seconds(), self._here.clock)
        except ClaimFailed as error:
            self._failed(error, began)
            raise
        self._recovered()
        return answer

    def _failed(self, error: ClaimFailed, began: float) -> None:
        if error.failure is ClaimFailure.CONFLICT:
            return  # the store at work
        if not self._failures:
            self._failing_since = began
            self._here.observe(PermitsFailed(error, self._prefix, self._waiting()))
        self._failures += 1

    def _recovered(self) -> None:
        if self._failures:
            after = self._here.clock.monotonic() - self._failing_since
            self._here.observe(StoreRecovered(self._failures, after))
            self._failures = 0
