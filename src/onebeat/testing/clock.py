"""FakeClock: time that moves only when a test says so."""

from __future__ import annotations

import asyncio
import heapq
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack
from weakref import WeakSet

from onebeat.errors import InvalidSetting
from onebeat.model import checked_duration
from onebeat.testing.quiet import Blocks, sleep_by, until_quiet

_NOTHING = timedelta()
_MICROSECOND = timedelta(microseconds=1)
_NEVER = timedelta.max // _MICROSECOND
_START = datetime(2026, 1, 1, tzinfo=UTC)


class Units(TypedDict, total=False):
    """How far: any of these, added up."""

    seconds: float
    minutes: float
    hours: float
    days: float


class FakeTimer:
    """A call that is to come, on the loop that asked for it, in the context it was asked in."""

    __slots__ = ("__weakref__", "_call", "_context", "_handle", "due", "loop", "over")

    def __init__(self, due: int, call: Callable[[], object], loop: asyncio.AbstractEventLoop) -> None:
        self.due = due
        self.loop = loop
        self.over = False  # fired, or called off
        self._call = call
        self._context: Context = copy_context()
        self._handle: asyncio.Handle | None = None

    def cancel(self) -> None:
        self.over = True
        if self._handle is not None:
            self._handle.cancel()

    def fire(self) -> None:
        self.over = True
        if self.loop is asyncio.get_running_loop():
            self._handle = self.loop.call_soon(self._call, context=self._context)
        elif not self.loop.is_closed():
            self._handle = self.loop.call_soon_threadsafe(self._call, context=self._context)


class FakeClock:
    """A clock for tests: it stands still until `advance`, `jump` or `step`.

    `advance` moves on timer by timer and lets the program come to rest after each, so whatever
    was due has happened when it returns. For work in threads or databases (`elsewhere`) it waits in real
    time, up to *patience* seconds a time; what takes longer is left behind and time goes on.
    """

    def __init__(self, start: datetime = _START, *, patience: float = 5.0) -> None:
        if not isinstance(start, datetime) or start.utcoffset() is None:
            raise InvalidSetting("start", start, "a timezone-aware datetime")
        self._wall = start.astimezone(UTC)  # what the wall clock shows when nothing has passed
        self._passed = 0  # microseconds: floats would let a tick drift away from its instant
        self._timers: list[tuple[int, int, FakeTimer]] = []
        self._at_wall_time: WeakSet[FakeTimer] = WeakSet()
        self._count = 0
        self._moving = False
        self._lock = threading.Lock()  # timers may be asked for on several loops
        self._loops: set[asyncio.AbstractEventLoop] = set()
        self._elsewhere = Blocks(checked_duration("patience", patience).total_seconds())

    def now(self) -> datetime:
        # Who reads the clock on a loop will act on it: from then on that loop has to come to rest too.
        with suppress(RuntimeError):
            self._loops.add(asyncio.get_running_loop())
        return self._wall + timedelta(microseconds=self._passed)

    def monotonic(self) -> float:
        return self._passed / 1_000_000

    async def sleep(self, seconds: float) -> None:
        await sleep_by(self.call_later, seconds)

    def call_later(self, seconds: float, call: Callable[[], object]) -> FakeTimer:
        loop = asyncio.get_running_loop()
        timer = FakeTimer(self._passed + _microseconds(seconds), call, loop)
        self._await(timer)
        self._loops.add(loop)
        return timer

    def call_at(self, moment: datetime | None, call: Callable[[], object]) -> FakeTimer:
        left = math.inf if moment is None else (moment - self.now()).total_seconds()
        timer = self.call_later(left, call)
        self._at_wall_time.add(timer)
        return timer

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        block = self._elsewhere.open()
        try:
            yield
        finally:
            self._elsewhere.close(block)

    async def advance(self, by: timedelta = _NOTHING, **units: Unpack[Units]) -> None:
        """Let time pass: every timer due until then fires at its own instant, one after the other."""
        end = self._passed + self._span_ahead(by, units)
        with self._alone():
            await self.settle()
            while (timer := self._next_due(end)) is not None:
                self._passed = max(self._passed, timer.due)
                timer.fire()
                await self.settle()
            self._passed = end

    async def jump(self, by: timedelta = _NOTHING, **units: Unpack[Units]) -> None:
        """A suspended machine: time has passed in one go, and what was due meanwhile fires now, late."""
        span = self._span_ahead(by, units)
        with self._alone():
            await self.settle()
            self._passed += span
            while late := list(iter(lambda: self._next_due(self._passed), None)):
                for timer in late:
                    timer.fire()
                await self.settle()

    def step(self, by: timedelta = _NOTHING, **units: Unpack[Units]) -> None:
        """Set the wall clock ahead, or back by a negative step. No time passes and nothing fires; who
        waits for a wall time looks again with the next `advance`."""
        self._wall += self._span(by, units)
        for timer in tuple(self._at_wall_time):
            if not timer.over:
                timer.due = self._passed
                self._await(timer)

    async def settle(self) -> None:
        """Let the program do everything it can do without time passing."""
        await until_quiet(self._loops, self._elsewhere.patience)
        while self._elsewhere.any_open:
            await self._elsewhere.wait_for_one()
            await until_quiet(self._loops, self._elsewhere.patience)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._moving:
            raise RuntimeError("this clock is being moved already: await one advance() or jump() at a time")
        self._moving = True
        try:
            yield
        finally:
            self._moving = False

    def _span_ahead(self, by: timedelta, units: Units) -> int:
        span = self._span(by, units)
        if span < _NOTHING:
            raise InvalidSetting("by", span, "a duration, zero or more", "step() sets the wall clock back")
        return span // _MICROSECOND

    def _span(self, by: timedelta, units: Units) -> timedelta:
        """All of it together; raises unless the wall clock can show where it leads."""
        if not isinstance(by, timedelta):
            raise InvalidSetting("by", by, "a timedelta, or seconds=, minutes=, hours=, days=")
        try:
            span = by + timedelta(**units)
            _ = self._wall + span + timedelta(microseconds=self._passed)
        except (OverflowError, ValueError):
            raise InvalidSetting("by", units or by, "a duration that ends in the years 1 to 9999") from None
        return span

    def _await(self, timer: FakeTimer) -> None:
        with self._lock:
            self._count += 1
            heapq.heappush(self._timers, (timer.due, self._count, timer))

    def _next_due(self, until: int) -> FakeTimer | None:
        with self._lock:
            while self._timers and self._timers[0][0] <= until:
                due, _, timer = heapq.heappop(self._timers)
                if not timer.over and due == timer.due:  # else called off, or made due again by a step
                    return timer
        return None


def _microseconds(seconds: float) -> int:
    """Rounded up, so that no timer is early; noise below a nanosecond does not make it late."""
    if seconds == math.inf:
        return _NEVER
    return math.ceil(round(max(seconds, 0.0) * 1_000_000, 3))
