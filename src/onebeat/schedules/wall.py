"""Wall time and instants: a zone as stretches of constant offset."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from onebeat.errors import InvalidSchedule
from onebeat.schedules.instants import DAY, EPOCH
from onebeat.schedules.local import zone, zone_name

Gap = Literal["skip", "after"]
Fold = Literal["both", "first", "second"]
ClockChange = Literal["vixie"]

# A zone is charted in pieces of half a year, when they are first asked for, by probing every three days:
# the two changes of offset nearest to each other in the tz database are almost four days apart.
_PIECE = 24
_PROBE = 1 << 18
# More than any two offsets differ by: instants this far apart are in the same order as their wall times.
APART = 2 * DAY
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - EPOCH).days * DAY + APART
_LATEST = (datetime.max.replace(tzinfo=UTC) - EPOCH).days * DAY - APART


class Window(NamedTuple):
    """A stretch [start, end) of epoch seconds in which the zone's offset is constant.

    Wall times count in [opens, closes) only: the rest repeats them and the fold policy leaves it out.
    *gap* is the wall time missing at start, in seconds, when the gap policy makes it due there; else 0.
    """

    start: int
    opens: int
    closes: int
    end: int
    offset: int
    gap: int


class Shift(NamedTuple):
    """A change of a zone's offset at an instant."""

    at: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Wall:
    """The wall clock of a zone, and what becomes of wall times it skips (gap) or repeats (fold)."""

    tz: str
    gap: Gap
    fold: Fold
    _charts: dict[int, tuple[Window, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def settings(self) -> str:
        """How the settings that are not the defaults are written in a call."""
        defaults = {"tz": "UTC", "gap": "skip", "fold": "both"}
        given = {"tz": self.tz, "gap": self.gap, "fold": self.fold}
        return "".join(f", {name}={got!r}" for name, got in given.items() if got != defaults[name])

    def window(self, at: int) -> Window:
        """The window that contains *at*."""
        for window in self._charts.get(at >> _PIECE) or self._chart(at >> _PIECE):
            if at < window.end:
                break
        return window

    def shifts(self, low: int, high: int) -> list[Shift]:
        """The changes of offset in (low, high], in order."""
        found = []
        left, before = low, self._offset(low)
        while left < high:
            right = min(left + _PROBE, high)
            after = self._offset(right)
            if after != before:
                found.append(Shift(self._bisect(left, right, before), before, after))
            left, before = right, after
        return found

    def _chart(self, piece: int) -> tuple[Window, ...]:
        """The windows of a piece, cut off at its ends, and kept."""
        low, high = piece << _PIECE, (piece + 1) << _PIECE
        shifts = self.shifts(low - APART, high + APART)
        edges = [Shift(low - APART, 0, 0), *shifts, Shift(high + APART, 0, 0)]
        offsets = [self._offset(low - APART), *(shift.after for shift in shifts)]
        windows = tuple(
            self._window(opening, closing, offset, low, high)
            for (opening, closing), offset in zip(pairwise(edges), offsets, strict=True)
            if opening.at < high and closing.at > low
        )
        self._charts[piece] = windows
        return windows

    def _window(self, opening: Shift, closing: Shift, offset: int, low: int, high: int) -> Window:
        start, end = max(opening.at, low), min(closing.at, high)
        repeats = opening.before - opening.after if self.fold == "first" else 0
        repeated = closing.before - closing.after if self.fold == "second" else 0
        skipped = opening.after - opening.before if self.gap == "after" and opening.at == start else 0
        return Window(
            start=start,
            opens=max(opening.at + max(repeats, 0), start),
            closes=min(closing.at - max(repeated, 0), end),
            end=end,
            offset=offset,
            gap=max(skipped, 0),
        )

    def _bisect(self, left: int, right: int, before: int) -> int:
        while right - left > 1:
            middle = (left + right) // 2
            if self._offset(middle) == before:
                left = middle
            else:
                right = middle
        return right

    def _offset(self, at: int) -> int:
        instant = EPOCH + timedelta(0, min(max(at, _EARLIEST), _LATEST))
        offset = instant.astimezone(zone(self.tz)).utcoffset() or timedelta(0)
        return offset.days * DAY + offset.seconds


def wall_of(tz: object, gap: object, fold: object, policy: object = None, *, fixed: bool = True) -> Wall:
    """The wall clock of *tz* under these policies; equal ones are shared, with what is charted of them.

    Debian cron runs a job of a *fixed* hour and minute once, right after the gap or at the first of two,
    and lets the others follow the wall.
    """
    if policy is not None:
        if not isinstance(policy, str) or policy not in get_args(ClockChange):
            raise InvalidSchedule("policy", policy, '"vixie", or None')
        if (gap, fold) != ("skip", "both"):
            raise InvalidSchedule("policy", policy, "no gap= or fold= beside it", "it says what they say")
        gap, fold = ("after", "first") if fixed else (gap, fold)
    gaps, folds = get_args(Gap), get_args(Fold)
    if not isinstance(gap, str) or gap not in gaps:
        raise InvalidSchedule("gap", gap, '"skip" or "after"')
    if not isinstance(fold, str) or fold not in folds:
        raise InvalidSchedule("fold", fold, '"both", "first" or "second"')
    return _wall_of(zone(zone_name(tz)).key, gaps[gaps.index(gap)], folds[folds.index(fold)])


@cache
def _wall_of(tz: str, gap: Gap, fold: Fold) -> Wall:
    return Wall(tz, gap, fold)
