"""The heartbeat of one replica: it joins the fleet, beats, buries the dead, and comes back from the dead."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from onebeat.engine.agreement import Agreement
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.members import Members
from onebeat.engine.recall import recall
from onebeat.errors import ClaimFailed
from onebeat.events import BeatFailed, ReplicaLapsed
from onebeat.fleet import Facts, FleetStore, Pulse, Registration
from onebeat.history import history_side

T = TypeVar("T")

_MOMENT = 0.02  # seconds by which it is surely over
_SOONER = 1 / 3
"""How much of the usual pause there is after a beat that failed."""


class Heart:
    """Beats every quarter of the time to live, and when somebody asks the fleet for something (F-BEAT).

    On whichever loop `run` is called; what concerns the jobs is done by *members* on theirs, which *post*
    reaches. *registrations* is what has been added since it was last asked; *facts* is told when joining.
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
        self._joined = False
        self._failing = False
        self._timeline: str | None = None
        history = history_side(store)
        self._agreement = Agreement(history, here, ask=self._ask) if history is not None else None
        self._asked: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waking = asyncio.Event()

    def wake(self) -> None:
        """Beat now: there is something to tell. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._waking.set)

    async def run(self) -> None:
        """Until cancelled; a copy of this process made by a fork has no heart."""
        self._loop = asyncio.get_running_loop()
        while not self._here.is_copy:
            # Before the beat: what is asked from now on is heard of, what was asked before comes with it.
            self._listen()
            pause = self._ttl.total_seconds() / 4
            try:
                pause = min(pause, await self._beat())
            except ClaimFailed as error:
                self._told_failure(error)
                pause *= _SOONER
            else:
                self._failing = False
            await self._pause(pause)

    async def rest(self) -> None:
        """It beats no more; let nothing of it go on."""
        if self._asked is not None:
            self._asked.cancel()
            await asyncio.wait({self._asked})

    async def leave(self) -> None:
        """This replica has stopped: nobody need wait for its death. Never raises."""
        try:
            await self._ask(lambda: self._store.leave(replica=self._here.replica))
        except ClaimFailed:
            return  # then it is declared dead in time

    async def _beat(self) -> float:
        """In how many seconds there may be a death to tell."""
        await self._join(anew=not self._joined)
        pulse = await self._pulse()
        if pulse.dead:
            await self._come_back()
            pulse = await self._pulse()
        if pulse.timeline != self._timeline and self._timeline is not None:
            await recall(self._store, self._here, self._there, self._members, str(pulse.timeline))
        self._timeline = pulse.timeline
        if pulse.healthy and pulse.suspects:
            await self._bury()
        self._post(self._members.feel, pulse)
        if self._agreement is not None:
            for disagreement in await self._agreement.look(pulse):
                self._post(self._here.observe, disagreement)
        if pulse.lapse_in is None or pulse.lapse_in <= 0:
            return math.inf
        return pulse.lapse_in + _MOMENT

    async def _pulse(self) -> Pulse:
        here = self._here
        return await self._ask(
            lambda: self._store.beat(replica=here.replica, now=here.clock.now(), ttl=self._ttl)
        )

    async def _join(self, *, anew: bool) -> None:
        """Tell of the jobs added since; of all of them *anew*. One statement, or none."""
        registrations = self._registrations(anew)
        if not registrations and not anew:
            return
        here = self._here
        registered = await self._ask(
            lambda: self._store.join(
                registrations, replica=here.replica, facts=self._facts, now=here.clock.now()
            )
        )
        self._joined = True
        self._post(self._members.join, registered)

    async def _come_back(self) -> None:
        """Declared dead while it was away, it lives on under another name, with what is still its own."""
        claims = await self._there(self._members.renew)
        self._joined = False
        await self._join(anew=True)
        kept = await self._ask(lambda: self._store.reassert(claims, replica=self._here.replica))
        lost = await self._there(self._members.part_with, claims, kept)
        still = tuple(claim.tick for claim, is_kept in zip(claims, kept, strict=True) if is_kept)
        self._post(self._here.observe, ReplicaLapsed(self._here.replica, still, lost))

    async def _bury(self) -> None:
        buried = await self._ask(lambda: self._store.bury(replica=self._here.replica, ttl=self._ttl))
        if buried:
            self._post(self._members.mourn, buried)

    async def _pause(self, seconds: float) -> None:
        """Until the next beat is due, somebody asks for something, or there is something to tell."""
        asked = self._listen()
        woken = asyncio.ensure_future(self._waking.wait())
        slept = asyncio.ensure_future(self._here.clock.sleep(seconds))
        try:
            await asyncio.wait({asked, woken, slept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            slept.cancel()
        self._waking.clear()

    def _listen(self) -> asyncio.Task[None]:
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(self._until_asked())
        return self._asked

    async def _until_asked(self) -> None:
        try:
            await self._store.asked(app=self._here.replica.app)
        except ClaimFailed:
            await self._here.clock.sleep(
                self._ttl.total_seconds()
            )  # what is asked is seen with the next beat

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await bounded(ask, self._here.settings.claim_timeout.total_seconds(), self._here.clock)

    async def _there(self, call: Callable[..., T], *arguments: Any) -> T:
        """What *call* returns, made on the jobs' loop."""
        answer: Future[T] = Future()
        self._post(partial(_settle, answer, call, arguments))
        return await asyncio.wrap_future(answer)

    def _told_failure(self, error: ClaimFailed) -> None:
        if not self._failing:
            self._failing = True
            self._post(self._here.observe, BeatFailed(error, self._ttl.total_seconds()))


def _settle(answer: Future[Any], call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(call(*arguments))
    except Exception as error:
        answer.set_exception(error)
