"""Counts as levels of heat."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

LEVELS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """Levels from 1 on: the first from the *least* count on, each up to a count that *tops* names. Nothing is
    level 0.

    Each level spans as many times the one before: one busy minute does not make all others look alike, and
    a load that is alike all day long looks like nothing special.
    """

    least: int
    tops: tuple[int, ...]

    def level(self, count: int) -> int:
        return 0 if count <= 0 else min(bisect_left(self.tops, count) + 1, len(self.tops))

    @property
    def legend(self) -> tuple[tuple[int, str], ...]:
        """Each level and the counts it stands for."""
        lows = (self.least, *(top + 1 for top in self.tops))
        return tuple(
            (level, f"{low:,}" if low == top else f"{low:,}–{top:,}")
            for level, (low, top) in enumerate(zip(lows, self.tops, strict=False), 1)
        )


def scale_of(counts: Iterable[int]) -> Scale:
    """From the least of *counts* that is any to the most, in LEVELS levels at most."""
    some = [count for count in counts if count > 0]
    if not some:
        return Scale(0, ())
    least, most = min(some), max(some)
    tops = {round(least * (most / least) ** (level / LEVELS)) for level in range(1, LEVELS)}
    return Scale(least, (*sorted(top for top in tops if top < most), most))


def short(count: int) -> str:
    """*count* in four characters at most, for a cell; empty for none."""
    if count < 1_000:
        return str(count) if count else ""
    for size, unit in ((1_000, "k"), (1_000_000, "M")):
        if count < 999.5 * size:
            scaled = count / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{count / 1e9:.0f}G"
