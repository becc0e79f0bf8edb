"""The heartbeat of one replica: it joins the fleet, beats, buries the dead, and comes back from the dead."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from onebeat.engine.agreement import Agreement
from onebeat.engine.bounded import as_failure, bounded
from onebeat.engine.here import Here
from onebeat.engine.listener import Listener
from onebeat.engine.members import Members
from onebeat.engine.recall import Recall
from onebeat.errors import ClaimFailed
from onebeat.events import BeatFailed
from onebeat.fleet import Facts, FleetStore, Pulse, Registration
from onebeat.history import history_side

T = TypeVar("T")

_MOMENT = 0.02  # seconds by which it is surely over
_LAST_WORDS = 2.0
"""Seconds. The others find out by themselves, in time: a database that is gone must not hold a stop."""
_SOONER = 1 / 3
"""How much of the usual pause there is after a beat that failed."""


class Heart:
    """Beats every quarter of the time to live, and when somebody asks the fleet for something (F-BEAT).

    On whichever loop `run` is called, and never waiting for the jobs'; what concerns the jobs is done by
    *members* over there, which *post* reaches. *registrations* is what has been added since it was last
    asked, or all there is; *facts* is told when joining.
    """

    def __init__(
        self,
        store: FleetStore,
        here: Here,
        members: Members,
        *,
        post: Callable[..., object],
        registrations: Callable[[bool], Sequence[Registration]],
        facts: Facts,
    ) -> None:
        self._store = store
        self._here = here
        self._members = members
        self._post = post
        self._registrations = registrations
        self._facts = facts
        self._ttl = here.settings.ttl
        self._recall = Recall(store, here, members, self._hand)
        self._joined = False
        self._lapsed = False
        self._failing = False
        self._faulty: set[str] = set()
        self._timeline: str | None = None
        history = history_side(store)
        self._agreement = Agreement(history, here, ask=self._ask) if history is not None else None
        self._listener = Listener(store, here)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waking = asyncio.Event()

    def wake(self) -> None:
        """Beat now: there is something to tell, or to see. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._waking.set)

    async def run(self) -> None:
        """Until cancelled; a copy of this process made by a fork has no heart."""
        self._loop = asyncio.get_running_loop()
        while not self._here.is_copy:
            # Before the beat: what is asked from now on is heard of, what was asked before comes with it.
            self._listener.listen()
            pause = self._ttl.total_seconds() / 4
            try:
                pause = min(pause, await self._beat())
            except Exception as error:  # whatever it is: without a heart all that runs here is lost
                self._told_failure(error)
                pause *= _SOONER
            else:
                self._failing = False
            await self._pause(pause)

    async def rest(self) -> None:
        """It beats no more; let nothing of it go on."""
        await self._listener.rest()

    async def leave(self) -> None:
        """This replica has stopped: nobody need wait for its death. Never raises."""
        seconds = min(_LAST_WORDS, self._here.settings.claim_timeout.total_seconds())
        try:
            await bounded(lambda: self._store.leave(replica=self._here.replica), seconds, self._here.clock)
        except ClaimFailed:
            return  # then it is declared dead in time

    async def _beat(self) -> float:
        """In how many seconds there may be a death to tell."""
        await self._join()
        pulse = await self._pulse()
        if pulse.dead:
            pulse = await self._come_back()
        await self._take_up(pulse)
        if pulse.healthy and pulse.suspects:
            await self._bury()
        self._hand(self._members.feel, pulse)
        if self._agreement is not None:
            for disagreement in await self._agreement.look(pulse):
                self._hand(self._here.observe, disagreement)
        if pulse.lapse_in is None or pulse.lapse_in <= 0:
            return math.inf
        return pulse.lapse_in + _MOMENT

    async def _pulse(self) -> Pulse:
        here = self._here
        return await self._ask(
            lambda: self._store.beat(replica=here.replica, now=here.clock.now(), ttl=self._ttl)
        )

    async def _join(self) -> None:
        """Tell of the jobs added since; of all of them anew. One statement, or none."""
        here, anew = self._here, not self._joined
        self._joined = False  # until it has worked: else those added since would never be told
        registrations = self._registrations(anew)
        if registrations or anew:
            registered = await self._ask(
                lambda: self._store.join(
                    registrations, replica=here.replica, facts=self._facts, now=here.clock.now()
                )
            )
            self._hand(self._members.join, registered)
        self._joined = True

    async def _come_back(self) -> Pulse:
        """Declared dead while it was away, it lives on under another name, with what is still its own."""
        self._here.renew()
        self._joined, self._lapsed = False, True
        await self._join()
        return await self._pulse()

    async def _take_up(self, pulse: Pulse) -> None:
        """Both are remembered until it has worked: a claim that nobody asserts blocks nobody."""
        has_moved = self._timeline is not None and pulse.timeline != self._timeline
        if self._lapsed or has_moved:
            timeline = str(pulse.timeline) if has_moved else None
            await self._recall.take_up(lapsed=self._lapsed, timeline=timeline)
        self._lapsed, self._timeline = False, pulse.timeline

    async def _bury(self) -> None:
        buried = await self._ask(lambda: self._store.bury(replica=self._here.replica, ttl=self._ttl))
        if buried:
            self._hand(self._members.mourn, buried)

    async def _pause(self, seconds: float) -> None:
        """Until the next beat is due, somebody asks for something, or there is something to tell."""
        asked = self._listener.listen()
        woken = asyncio.ensure_future(self._waking.wait())
        slept = asyncio.ensure_future(self._here.clock.sleep(seconds))
        try:
            await asyncio.wait({asked, woken, slept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            slept.cancel()
        self._waking.clear()

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await bounded(ask, self._here.settings.claim_timeout.total_seconds(), self._here.clock)

    def _told_failure(self, error: Exception) -> None:
        if not self._failing:
            self._failing = True
            self._post(self._here.observe, BeatFailed(as_failure(error), self._ttl.total_seconds()))

    def _hand(self, call: Callable[..., object], *arguments: Any) -> None:
        """Have it called on the jobs' loop, soon."""
        self._post(self._called, call, *arguments)

    def _called(self, call: Callable[..., object], *arguments: Any) -> None:
        """Over there. What fails is told once until it works again, and keeps nothing else undone."""
        name = getattr(call, "__name__", repr(call))
        try:
            call(*arguments)
        except Exception as error:
            if name not in self._faulty:
                self._faulty.add(name)
                self._here.observe(BeatFailed(as_failure(error), self._ttl.total_seconds()))
        else:
            self._faulty.discard(name)
