"""Which replica asks first for a tick: every one ranks the living alike (C-FAIR)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import timedelta
from zlib import crc32

from onebeat.model import Tick

HEAD_START = timedelta(milliseconds=250)
_FOR_EACH_TICK = timedelta(microseconds=100)
_MOST_RANKS = 3
LONGEST_HEAD_START = _MOST_RANKS * HEAD_START
"""Unless very many ticks are due at once, or a clock leads."""

_MOST_LEAD = timedelta(seconds=5)
"""Who leads by more asks too early anyway, and by a clock that somebody will set back."""

_ODD = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class Roster:
    """The living replicas. Each tick prefers them in an order of its own, by rendezvous hash: when one
    comes or goes, only its own ticks move."""

    def __init__(self) -> None:
        self._own = 0
        self._others: tuple[int, ...] = ()
        self._leads: deque[timedelta] = deque([timedelta(0)], maxlen=4)

    def know(self, living: Iterable[str], own: str, lead: timedelta = timedelta(0)) -> None:
        """From now on these are the living, as the store told; *own* is this replica's id, whose clock
        led the store's by *lead*, less the time that the beat was on its way."""
        self._own = _number(own)
        self._others = tuple(_number(replica) for replica in living if replica != own)
        self._leads.append(lead)

    def rank(self, tick: Tick) -> int:
        """How many others this tick prefers to this replica."""
        if not self._others:
            return 0
        number = _number(f"{tick.scheduled_at.timestamp()} {tick.job_id}")
        own = _score(number, self._own)
        return sum(_score(number, other) > own for other in self._others)

    def head_start(self, rank: int, ticks: int = 1) -> timedelta:
        """How long this replica waits, by its own clock, where the *rank* preferred come first. A clock that
        leads wakes before the tick is due to others, who have their time all the same; one that lags has
        waited already."""
        if not rank:
            return timedelta(0)
        apart = head_start(rank, ticks) + min(max(self._leads), _MOST_LEAD)
        return max(apart, timedelta(0))


def head_start(rank: int, ticks: int = 1) -> timedelta:
    """How long the preferred have a tick to themselves, of so many due at once: the first in rank waits for
    nobody, and a dead or frozen one holds up its ticks for this long alone. Of very many, a share takes
    longer to be claimed than the usual head start: who asks meanwhile asks in vain, and is in the way."""
    return min(rank, _MOST_RANKS) * max(HEAD_START, ticks * _FOR_EACH_TICK)


def _number(text: str) -> int:
    """A checksum is spread well enough once it is mixed, and costs a tenth of a digest."""
    return (crc32(text.encode()) * _ODD) & _MASK


def _score(tick: int, replica: int) -> int:
    """A hash of both, from the hashes of each: one multiplication instead of a digest a pair."""
    mixed = ((tick ^ replica) * _ODD) & _MASK
    mixed ^= mixed >> 32
    return (mixed * _ODD) & _MASK
