"""The only reader of time, and the only sleeper."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Protocol

_LONGEST_SLEEP = 2.0
"""Seconds. The wall clock may step or the machine be suspended: it is looked at this often (W-EYES)."""


class Timer(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Call it off; harmless when it has happened."""


class Clock(Protocol):
    """Time as a replica sees it. Wall time may step; `monotonic` never does."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only grow, from an arbitrary start."""

    async def sleep(self, seconds: float) -> None:
        """Return when *seconds* have passed on the monotonic clock; may be a moment early or late."""

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Call *call* on the running loop when *seconds* have passed."""

    def call_at(self, moment: datetime | None, call: Callable[[], object]) -> Timer:
        """Call *call* on the running loop when the wall clock shows *moment*, or earlier: look again.

        A wall clock may step and a machine be suspended, so no caller may count on the span from here
        to there. None is a moment that is not known yet.
        """

    def elsewhere(self) -> AbstractContextManager[None]:
        """Around waiting for work this clock does not drive: a thread, a database.

        Real time passes there, whatever this clock shows; a fake clock waits for it before it goes on.
        """


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)

    def call_at(self, moment: datetime | None, call: Callable[[], object]) -> Timer:
        left = (moment - self.now()).total_seconds() if moment is not None else _LONGEST_SLEEP
        return self.call_later(min(max(left, 0.0), _LONGEST_SLEEP), call)

    def elsewhere(self) -> AbstractContextManager[None]:
        return nullcontext()


def local_zone_name() -> str | None:
    """The IANA name of this machine's zone: from TZ, else /etc/timezone, else where /etc/localtime points.

    None when none of them names one.
    """
    named = os.environ.get("TZ", "").removeprefix(":")
    if named:
        return _below_zoneinfo(named)
    if os.path.isfile("/etc/timezone"):
        with open("/etc/timezone", encoding="ascii", errors="replace") as file:
            return file.read().strip() or None
    return _below_zoneinfo(os.path.realpath("/etc/localtime"))


def _below_zoneinfo(path: str) -> str | None:
    if not path.startswith("/"):
        return path
    _, found, name = path.partition("/zoneinfo/")
    return name if found else None
