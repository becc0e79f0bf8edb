"""One replica's clock on a timeline that a whole fleet shares: off, drifting, and able to freeze."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from datetime import datetime, timedelta
from functools import partial

from onebeat.testing.clock import FakeClock, FakeTimer
from onebeat.testing.quiet import sleep_by, wake


class SkewedClock:
    """A Clock that shows *timeline* with an error of *offset*, growing by *drift* seconds a second.

    A replica has no life but its timers and its statements: `freeze` holds the timers back, and whoever
    carries its statements awaits `awake`. Frozen for ever is dead.
    """

    def __init__(self, timeline: FakeClock, offset: timedelta, drift: float) -> None:
        self._timeline = timeline
        self._offset = offset
        self._drift = drift
        self._freezes = 0
        self._held_back: list[Callable[[], object]] = []

    def now(self) -> datetime:
        gained = timedelta(seconds=self._timeline.monotonic() * self._drift)
        return self._timeline.now() + self._offset + gained

    def monotonic(self) -> float:
        return self._timeline.monotonic() * (1 + self._drift)

    async def sleep(self, seconds: float) -> None:
        await sleep_by(self.call_later, seconds)

    def call_later(self, seconds: float, call: Callable[[], object]) -> _SkewedTimer:
        timer = _SkewedTimer(self, call)
        timer.of_timeline = self._timeline.call_later(seconds / (1 + self._drift), timer.due)
        return timer

    def call_at(self, moment: datetime | None, call: Callable[[], object]) -> _SkewedTimer:
        left = float("inf") if moment is None else (moment - self.now()).total_seconds()
        return self.call_later(max(left, 0.0), call)

    def elsewhere(self) -> AbstractContextManager[None]:
        return self._timeline.elsewhere()

    @property
    def frozen(self) -> bool:
        return self._freezes > 0

    def freeze(self, seconds: float) -> None:
        """Nothing of this replica happens for *seconds* of the timeline; infinity is a crash."""
        # Counted, not compared with the time: a timer is only due to the microsecond.
        self._freezes += 1
        if seconds < float("inf"):
            self._timeline.call_later(seconds, self._thaw)

    def revive(self) -> None:
        """Let what was frozen go on now, to tidy up after the story has ended."""
        self._freezes = 1
        self._thaw()

    async def awake(self) -> None:
        """Return when the replica is not frozen."""
        while self.frozen:
            over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.when_awake(partial(wake, over))
            await over

    def when_awake(self, call: Callable[[], object]) -> None:
        """Call *call* now, or at the thaw, in the context of now."""
        if self.frozen:
            self._held_back.append(partial(copy_context().run, call))
        else:
            call()

    def _thaw(self) -> None:
        self._freezes -= 1
        if not self.frozen:
            calls, self._held_back = self._held_back, []
            for call in calls:
                asyncio.get_running_loop().call_soon(call)


class _SkewedTimer:
    """A timer that waits for the thaw, and can still be called off then."""

    __slots__ = ("_call", "_cancelled", "_clock", "of_timeline")

    def __init__(self, clock: SkewedClock, call: Callable[[], object]) -> None:
        self._clock = clock
        self._call = call
        self._cancelled = False
        self.of_timeline: FakeTimer | None = None

    def cancel(self) -> None:
        self._cancelled = True
        if self.of_timeline is not None:
            self.of_timeline.cancel()

    def due(self) -> None:
        self._clock.when_awake(self._fire)

    def _fire(self) -> None:
        if not self._cancelled:
            self._call()
