"""Where the heartbeat lives: on a loop of its own where the store serves any, else on the jobs' loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from onebeat.clock import Clock, SystemClock
from onebeat.engine.admitting import Admitting
from onebeat.engine.facts import facts_of_this_process
from onebeat.engine.heart import Heart
from onebeat.engine.held import HeldClaims
from onebeat.engine.here import Here
from onebeat.engine.job import Job
from onebeat.engine.members import Members
from onebeat.engine.own_loop import OwnLoop
from onebeat.engine.releases import Releases
from onebeat.events import BeatsOnJobLoop
from onebeat.fleet import FleetStore, Registration
from onebeat.schedules.fingerprint import digest_of, text_of


class Circulation:
    """Starts and stops the heart of one replica, and tells it of jobs.

    A fake clock drives one loop: there the heart beats on it, too.
    """

    def __init__(
        self,
        store: FleetStore,
        here: Here,
        jobs: Mapping[str, Job],
        *,
        admitting: Admitting,
        held: HeldClaims,
        releases: Releases,
        post: Callable[..., object],
        felt: Callable[[Sequence[str]], object],
    ) -> None:
        self._store = store
        self._here = here
        self._jobs = jobs
        self._added: list[Job] = []
        self._covered: dict[str, datetime] = {}
        self._members = Members(
            here,
            jobs,
            admitting=admitting,
            held=held,
            releases=releases,
            covered=self._covered.get,
            felt=felt,
        )
        self._heart = Heart(
            store,
            here,
            self._members,
            post=post,
            registrations=self._registrations,
            facts=facts_of_this_process(),
        )
        self._apart: OwnLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._holds_nothing = False

    def start(self) -> None:
        """On the jobs' loop."""
        now = self._here.clock.now()
        self._covered.update((job_id, now) for job_id in list(self._jobs))
        if _drives_one_loop(self._here.clock):
            self._task = asyncio.get_running_loop().create_task(self._heart.run(), name="onebeat heart")
        elif self._store.loop_bound is not None:
            self._here.observe(BeatsOnJobLoop(self._store.loop_bound))
            self._task = asyncio.get_running_loop().create_task(self._heart.run(), name="onebeat heart")
        else:
            self._apart = OwnLoop("onebeat-heart", self._live_apart)
            self._apart.start()

    def add(self, job: Job) -> None:
        """A job that came after the start. On the jobs' loop."""
        self._covered[job.id] = self._here.clock.now()
        self._added.append(job)
        self._heart.wake()

    def look(self) -> None:
        """The store was lost and answers again: beat now, to see whether it is the same server."""
        self._heart.wake()

    async def stop(self) -> None:
        """Leave the fleet; within two seconds, and never raises."""
        self._holds_nothing = not self._members.claims()
        if self._apart is not None:
            await self._apart.stop()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            await self._leave()

    async def _live_apart(self) -> None:
        try:
            await self._heart.run()
        finally:
            if not self._here.is_copy:
                await self._leave()
                await self._store.close()  # what was opened on this loop

    async def _leave(self) -> None:
        """Unless a claim is left behind: of that only its holder's death tells the others."""
        await self._heart.rest()
        if self._holds_nothing:
            await self._heart.leave()

    def _registrations(self, anew: bool) -> Sequence[Registration]:
        """On the heart's loop: what many schedules say of themselves takes a while."""
        added, self._added = self._added, []
        jobs = list(self._jobs.values()) if anew else added
        return [
            Registration(job.id, text_of(job.schedule), digest_of(job.schedule))
            for job in jobs
            if not job.policy.on_every_replica
        ]


def _drives_one_loop(clock: Clock) -> bool:
    return not isinstance(clock, SystemClock)
