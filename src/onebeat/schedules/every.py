"""Due at every multiple of a duration."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING

from onebeat.errors import InvalidSchedule
from onebeat.schedules.instants import DueBySecond

if TYPE_CHECKING:
    from fractions import Fraction

_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_SECOND = timedelta(seconds=1)
_LONGEST = timedelta.max // _SECOND


@dataclass(frozen=True, slots=True, repr=False)
class Every(DueBySecond):
    """Due at every multiple of *period* seconds since the Unix epoch.

    Aligned, not counted from start-up: two replicas that boot 7 s apart must still name
    the same tick, or they would never contend for one claim (S-EVERY).
    """

    period: int

    def due_from(self, at: int) -> int:
        return -(-at // self.period) * self.period

    def due_until(self, at: int) -> int:
        return at // self.period * self.period

    def __reduce__(self) -> tuple[object, ...]:
        return every, (self.period,)

    def __repr__(self) -> str:
        rest, parts = self.period, []
        for unit, length in _UNITS.items():
            count, rest = divmod(rest, length)
            if count:
                parts.append(f"{unit}={count}")
        return f"every({', '.join(parts)})"


def every(
    duration: timedelta | float | None = None,
    *,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
) -> Every:
    """Due at multiples of a duration since the Unix epoch, the same instants on every replica.

    A timedelta, a number of seconds, or the sum of the keywords: whole seconds, one or more.
    """
    named = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
    if duration is None:
        return every_seconds(
            sum(_exact(unit, named[unit]) * length for unit, length in _UNITS.items()), named
        )
    if any(named.values()):
        raise InvalidSchedule("every", named, "either a duration or days=, hours=, minutes=, seconds=")
    if isinstance(duration, timedelta):
        whole, rest = divmod(duration, _SECOND)
        return every_seconds(0 if rest else whole, duration)
    return every_seconds(_exact("every", duration), duration)


def every_seconds(period: Fraction | int, got: object) -> Every:
    """The schedule of *period*, read from *got*; raises unless it is whole seconds, one or more."""
    if period != int(period) or not 1 <= period <= _LONGEST:
        shown = {unit: count for unit, count in got.items() if count} if isinstance(got, dict) else got
        raise InvalidSchedule("every", shown, "whole seconds, one or more")
    return Every(int(period))


def _exact(field: str, number: float) -> Fraction | int:
    """*number* as it is written: 1.1 is eleven tenths, not the nearest binary fraction."""
    if isinstance(number, int) and not isinstance(number, bool):
        return int(number)
    if not isinstance(number, float) or not isfinite(number):
        raise InvalidSchedule(field, number, "a finite number or a timedelta")
    from fractions import Fraction  # slow to import, and rarely needed

    return Fraction(float.__repr__(number))  # a subclass may write itself in another way
