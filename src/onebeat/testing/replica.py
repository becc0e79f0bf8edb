"""One replica of a simulated fleet: a real scheduler on a clock and a road of its own."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from random import Random

from onebeat.claims import ClaimStore
from onebeat.engine.body import Work
from onebeat.engine.run import Run
from onebeat.events import Event
from onebeat.scheduler import Scheduler
from onebeat.testing.clock import FakeClock
from onebeat.testing.faults import Road, Weather
from onebeat.testing.skewed import SkewedClock
from onebeat.testing.story import Entry, SimulatedJob, Story

APP = "fleet"
_CLAIM_TIMEOUT = 2.0
_TIMEOUT, _LEASE_MARGIN, _SHUTDOWN_TIMEOUT = 4.0, 1.0, 3.0
TTL = 4.0

_silent = logging.getLogger("onebeat.testing.silent")
_silent.propagate = False
_silent.setLevel(logging.CRITICAL + 1)


class SimulatedReplica:
    """From its boot to its orderly end, or to its crash: then it never reports again."""

    def __init__(
        self, name: str, *, story: Story, store: ClaimStore, timeline: FakeClock, weather: Weather
    ) -> None:
        self.name = name
        self.dead = False
        self.stopping = False
        self._story = story
        self._chance = Random(f"{story.seed}/{name}")
        faults = story.faults
        self.clock = SkewedClock(
            timeline,
            timedelta(seconds=self._chance.uniform(-faults.skew, faults.skew)),
            self._chance.uniform(-faults.drift, faults.drift),
        )
        self._road = Road(
            store,
            timeline=timeline,
            clock=self.clock,
            weather=weather,
            faults=faults,
            chance=self._chance,
            decided=lambda bids, answers: story.decided(name, bids, answers),
            released=story.released,
            buried=story.buried,
            reasserted=story.reasserted,
            note=lambda text: story.note(f"{name} {text}"),
        )
        self.scheduler = self._scheduler()
        self.serving = asyncio.create_task(self.scheduler.serve())

    @property
    def busy(self) -> bool:
        """Whether anything is still to come of what it began."""
        if self.dead or self.serving.done():
            return False
        return self.stopping or self.clock.frozen or self.scheduler.active > 0

    def crash(self) -> None:
        """Gone in the middle of whatever it did. What it has sent may still arrive."""
        self._story.crash(self.name)
        self.dead = True
        self.clock.freeze(float("inf"))

    def stop(self) -> None:
        """A deploy: told to stop, which a frozen process hears at its thaw."""
        if self.dead:
            return
        self._story.note(f"{self.name} is told to stop")
        self.stopping = True
        self.clock.when_awake(self.scheduler.stop)

    def retire_jobs(self) -> None:
        """Nothing is due any more; what runs may end."""
        self.clock.when_awake(self._remove_jobs)

    def bury(self) -> None:
        """After the story: let a crashed replica's tasks end, without a word to anyone."""
        self._road.closed = True
        self.clock.revive()
        self.serving.cancel()

    def _scheduler(self) -> Scheduler:
        scheduler = Scheduler(
            self._road,
            app=APP,
            replica=self.name,
            timeout=_TIMEOUT,
            lease_margin=_LEASE_MARGIN,
            claim_timeout=_CLAIM_TIMEOUT,
            shutdown_timeout=_SHUTDOWN_TIMEOUT,
            ttl=TTL,
            observers=[_Ear(self)],
            clock=self.clock,
            logger=_silent,
        )
        for job in self._story.jobs.values():
            scheduler.add(job.id, job.schedule, self._body(job), **job.policy)
        return scheduler

    def _body(self, job: SimulatedJob) -> Work:
        async def body(run: Run) -> None:
            assert run.tick is not None, "a fleet runs nothing on demand"
            entry = Entry(run.tick, self.name, run.fence, self._story.now, self.clock.now(), run.attempt)
            self._story.began(entry)
            try:
                await self.clock.sleep(self._chance.uniform(0, job.takes))
            finally:
                if not self.dead:
                    self._story.finished(entry)

        return body

    def _remove_jobs(self) -> None:
        if not self.stopping:
            for job_id in self._story.jobs:
                self.scheduler.remove(job_id)

    def hear(self, event: Event) -> None:
        if not self.dead:
            self._story.report(self.name, self.clock.now(), event)


class _Ear:
    """The replica's observer."""

    inline = True

    def __init__(self, replica: SimulatedReplica) -> None:
        self._replica = replica

    def __call__(self, event: Event) -> None:
        self._replica.hear(event)
