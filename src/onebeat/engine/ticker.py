"""Sleeps to the next due instant, wakes, and hands out what is owed."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import datetime, timedelta

from onebeat.engine.admitting import Admitting
from onebeat.engine.here import Here
from onebeat.events import ClockStepped, ScheduleFailed
from onebeat.model import Tick
from onebeat.schedule import Schedule
from onebeat.schedules.agenda import Agenda

_SLICE = 250
_FOLLOWED_STEP = timedelta(minutes=1)


class Ticker:
    """Hands each job's latest due tick to *admitting*. On the loop's thread."""

    def __init__(self, here: Here, admitting: Admitting) -> None:
        self._here = here
        self._clock = here.clock
        self._observe = here.observe
        self._admitting = admitting
        self._agenda = Agenda()
        self._seen = here.clock.now()
        self._waking: asyncio.Future[None] | None = None

    def add(self, job_id: str, schedule: Schedule) -> None:
        """Nothing fires at once: the first tick is the first due instant after now (W-FIRST)."""
        self._agenda.add(job_id, schedule, max(self._seen, self._clock.now()))
        self.wake()

    def remove(self, job_id: str) -> None:
        self._agenda.remove(job_id)

    def next_due(self) -> datetime | None:
        return self._agenda.next_due()

    def upcoming(self) -> list[tuple[str, datetime]]:
        return list(self._agenda.upcoming())

    async def run(self) -> None:
        """Until cancelled, or forked: a copy of a running scheduler fires nothing (C-ID)."""
        while not self._here.is_copy:
            await self._hand_out()
            await self._sleep()

    def wake(self) -> None:
        """Look at the clock and the agenda now."""
        if self._waking is not None and not self._waking.done():
            self._waking.set_result(None)

    async def _hand_out(self) -> None:
        now = self._clock.now()
        if now < self._seen:
            self._stepped_back(self._seen - now, now)
            return
        since, self._seen = self._seen, now
        owed = sorted(self._agenda.owed(now), key=lambda owed: owed.tick.job_id)
        for one in owed:
            if one.passed_over:
                self._admitting.pass_over(one, since)
        await self._admit_in_slices(self._admitting.preferred_first(one.tick for one in owed))
        for job_id, error in self._agenda.failures():
            self._observe(ScheduleFailed(job_id, error))

    async def _admit_in_slices(self, ticks: list[Tick]) -> None:
        """The loop has its turn between slices: claims of the first go out before the last is admitted."""
        waiting = deque(ticks)
        try:
            while waiting:
                for _ in range(min(_SLICE, len(waiting))):
                    self._admitting.due(waiting.popleft())
                if waiting:
                    await asyncio.sleep(0)
        finally:
            # Stopped in between: the rest is skipped, and told so, by whoever admits no more.
            for tick in waiting:
                self._admitting.due(tick)

    def _stepped_back(self, step: timedelta, now: datetime) -> None:
        """A small step waits for the clock to pass the last instant again; a large one is followed."""
        if step >= _FOLLOWED_STEP:
            self._observe(ClockStepped(step.total_seconds()))
            self._agenda.restart(now)
            self._seen = now

    async def _sleep(self) -> None:
        """To the next due instant or less: the clock is read again in any case (W-EYES)."""
        self._waking = asyncio.get_running_loop().create_future()
        timer = self._clock.call_at(self._agenda.next_due(), self.wake)
        try:
            await self._waking
        finally:
            timer.cancel()
