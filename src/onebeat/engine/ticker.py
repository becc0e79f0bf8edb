"""Sleeps to the next due instant, wakes, and hands out what is owed."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from onebeat.engine.here import Here
from onebeat.engine.shares import own_share_first
from onebeat.events import ClockStepped, ScheduleFailed, TicksPassedOver
from onebeat.model import Tick
from onebeat.schedule import Schedule
from onebeat.schedules.agenda import Agenda, Owed

_SLICE = 250
_FOLLOWED_STEP = timedelta(minutes=1)


class Ticker:
    """Calls `admit` with each job's latest due tick. On the loop's thread."""

    def __init__(self, here: Here, admit: Callable[[Tick], object]) -> None:
        self._here = here
        self._clock = here.clock
        self._observe = here.observe
        self._admit = admit
        self._agenda = Agenda()
        self._seen = here.clock.now()
        self._place = random.random()
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
        self._seen = now
        owed = sorted(self._agenda.owed(now), key=lambda owed: owed.tick.job_id)
        self._tell_passed_over(owed)
        await self._admit_in_slices([one.tick for one in own_share_first(owed, self._place)])
        for job_id, error in self._agenda.failures():
            self._observe(ScheduleFailed(job_id, error))

    def _tell_passed_over(self, owed: list[Owed]) -> None:
        for one in owed:
            if one.passed_over:
                tick = one.tick
                self._observe(TicksPassedOver(tick.job_id, one.passed_over, tick.scheduled_at, one.exact))

    async def _admit_in_slices(self, ticks: list[Tick]) -> None:
        """The loop has its turn between slices: claims of the first go out before the last is admitted."""
        waiting = deque(ticks)
        try:
            while waiting:
                for _ in range(min(_SLICE, len(waiting))):
                    self._admit(waiting.popleft())
                if waiting:
                    await asyncio.sleep(0)
        finally:
            # Stopped in between: the rest is skipped, and told so, by whoever admits no more.
            for tick in waiting:
                self._admit(tick)

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
