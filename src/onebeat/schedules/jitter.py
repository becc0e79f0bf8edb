"""A delay for each tick, the same on every replica (S-MORE)."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

from onebeat.model import Tick
from onebeat.schedules.instants import EPOCH

_MICROSECOND = timedelta(microseconds=1)


def delay_of(tick: Tick, most: timedelta) -> timedelta:
    """How much later than its instant *tick* is to start: from nothing up to, but not including, *most*.

    Drawn from the tick alone, so that every replica waits as long and the order of their bids is not
    touched; the ticks of a job, and the jobs of an instant, spread evenly. The key of the tick stays.
    """
    drawn = sha256(f"{tick.job_id}\0{(tick.scheduled_at - EPOCH) // _MICROSECOND}".encode())
    return timedelta(microseconds=int.from_bytes(drawn.digest()[:8]) * (most // _MICROSECOND) >> 64)
