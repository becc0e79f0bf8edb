"""The stretch of time that a drawing shows, and where in it an instant lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from onebeat.history import TickRecord

WIDTH = 960
LEFT = 168
RIGHT = WIDTH - 14

_SHORTEST = timedelta(seconds=20)
_LONGEST = timedelta(days=36_500)
_MOVES = 480
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """From *since* to *until*, drawn between LEFT and RIGHT; *now* lies in it, or after it."""

    since: datetime
    until: datetime
    now: datetime

    def x(self, moment: datetime) -> float:
        """Where *moment* is drawn: at an edge when it lies outside."""
        share = (moment - self.since) / (self.until - self.since)
        return round(LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0), 1)


def window_back(length: timedelta, now: datetime) -> Window:
    """So much time up to about *now*: it moves on in small jumps, not with every look at it."""
    jump = length / _MOVES
    until = _EPOCH + -((_EPOCH - now) // jump) * jump
    return Window(until - length, until, now)


def window_around(records: Sequence[TickRecord], now: datetime) -> Window:
    """From the oldest of these ticks, or a little before it, up to about *now*."""
    oldest = min((record.tick.scheduled_at for record in records), default=now)
    length = min(max(now - oldest, _SHORTEST), _LONGEST)
    return window_back(_rounded(length * 1.01), now)


def _rounded(length: timedelta) -> timedelta:
    """Up, by a thirty-second at most: it stays the same for a while as time passes."""
    grain = timedelta(seconds=2 ** math.floor(math.log2(length.total_seconds())) / 32)
    return -(-length // grain) * grain
