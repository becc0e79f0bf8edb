"""A limit that all replicas of the app share: who waits for its permits here."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from onebeat.engine.fleet_permits import FleetPermits
from onebeat.engine.here import Here
from onebeat.engine.tasks import Tasks, until_either
from onebeat.engine.turn import Turn
from onebeat.errors import ClaimFailed
from onebeat.permits import Permits

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0
"""Seconds between two askings while none is left: growing, and half of it at random."""


@dataclass(slots=True, eq=False)
class _Wanted:
    """A permit that a run here waits for or has. `may_be_held`: the store may have given it."""

    token: str
    lease: timedelta
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    may_be_held: bool = False
    left: bool = False


class FleetLimit:
    """Runs stand in line here, and for the first of them the store is asked: one asker a replica, however
    many wait. A store that cannot answer is asked again: nothing runs without its permit."""

    def __init__(self, prefix: str, most: int, store: Permits, here: Here) -> None:
        self._most = most
        self._here = here
        self._line: deque[_Wanted] = deque()
        self._permits = FleetPermits(prefix, most, store, here, lambda: len(self._line))
        self._out: _Wanted | None = None  # whom the statement that is out asks for
        self._taken: set[_Wanted] = set()  # not given back yet
        self._given_back = asyncio.Event()
        self._turn = Turn()
        self._asker: asyncio.Task[None] | None = None
        self._tasks = Tasks()
        self._abandoned = False

    @asynccontextmanager
    async def permit(self, token: str, lease: timedelta) -> AsyncIterator[None]:
        """Hold one, under *token*, for *lease* at most. Waiting for it may be cancelled."""
        wanted = _Wanted(token, lease)
        self._line.append(wanted)
        self._ensure_asker()
        try:
            await wanted.granted.wait()
            yield
        finally:
            self._leave(wanted)

    async def closed(self) -> None:
        """Return when every permit has been given back."""
        await self._tasks.ended()

    def abandon(self) -> None:
        """Give nothing more back: the leases end by themselves."""
        self._abandoned = True
        self._tasks.cancel()

    def _ensure_asker(self) -> None:
        """An app that cancels every task of its loop has cancelled the one that asks, too."""
        if self._asker is not None and not self._asker.done():
            return
        if not self._taken:
            self._turn.begin(self._here.clock.monotonic())
        self._asker = self._tasks.spawn(self._ask_in_turn())

    async def _ask_in_turn(self) -> None:
        pause = _FIRST_PAUSE
        while self._line and not self._here.is_copy:
            self._given_back.clear()
            if len(self._taken) >= self._most:
                await self._given_back.wait()
            elif await self._got(self._line[0]):
                continue
            elif self._line:
                await self._given_back_within(pause * (0.5 + random.random() / 2))
                pause = min(2 * pause, _LONGEST_PAUSE)
            if self._given_back.is_set() and self._line and self._turn.over(self._here.clock.monotonic()):
                # Asked for at once it would be this replica's again: the others hear of nothing, they look.
                await self._here.clock.sleep(_LONGEST_PAUSE)

    async def _got(self, first: _Wanted) -> bool:
        """Whether the first in line has its permit now. What has landed too late for it is given back."""
        before, first.may_be_held, self._out = first.may_be_held, True, first
        try:
            got = await self._permits.take(first.token, first.lease)
            first.may_be_held = before or got
        except ClaimFailed:
            return False
        finally:
            self._out = None
            if first.left:
                self._let_go(first)
        if not got:
            self._turn.shorten()
        elif not first.left:
            self._line.popleft()
            self._taken.add(first)
            first.granted.set()
        return got

    async def _given_back_within(self, seconds: float) -> None:
        """Until a run here has given its permit back; after *seconds* at the latest: others do so unheard."""
        sleeping = asyncio.ensure_future(self._here.clock.sleep(seconds))
        try:
            await until_either(self._given_back.wait(), sleeping)
        finally:
            sleeping.cancel()

    def _leave(self, wanted: _Wanted) -> None:
        wanted.left = True
        if not wanted.granted.is_set():
            self._line.remove(wanted)
        if wanted is self._out:
            return  # its answer tells whether there is anything to give back
        self._let_go(wanted)
        if not self._line and self._out is None and self._asker is not None:
            self._asker.cancel()
            self._asker = None

    def _let_go(self, wanted: _Wanted) -> None:
        if wanted.may_be_held and not self._abandoned:
            self._taken.add(wanted)
            self._tasks.spawn(self._give_back(wanted))

    async def _give_back(self, wanted: _Wanted) -> None:
        try:
            await self._permits.give_back(wanted.token, wanted.lease)
        finally:
            self._taken.discard(wanted)
            self._given_back.set()
