"""In which order each replica takes many ticks due at one instant."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_SHARES = 4


def own_share_first(ticks: list[T], place: float) -> list[T]:
    """*ticks*, all in one order on every replica, begun at the share this one drew: *place*, from 0 to 1.

    Rivals that all began with the same ticks would win and wait in step: one would run everything. Begun
    apart, they bid side by side and mostly win. A replica alone takes its round through all of them.
    """
    start = int(place * _SHARES) * len(ticks) // _SHARES
    return ticks[start:] + ticks[:start]
