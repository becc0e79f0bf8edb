"""Wall time and instants: a zone as stretches of constant offset, and schedules that follow its clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from onebeat.errors import InvalidSchedule
from onebeat.schedules.days import Days
from onebeat.schedules.instants import DAY, EPOCH, DueBySecond
from onebeat.schedules.local import zone, zone_name

Gap = Literal["skip", "after"]
Fold = Literal["both", "first", "second"]

# A zone is charted in pieces of 24 days, when they are first asked for, by probing every three days:
# the two changes of offset nearest to each other in the tz database are almost four days apart.
_PIECE = 21
_PROBE = 1 << 18
# More than any two offsets differ by: instants this far apart are in the same order as their wall times.
_APART = 2 * DAY
# No zone changes its rules later, and from then on 41 years hold every calendar a year can have.
_SETTLED = (datetime(2088, 1, 1, tzinfo=EPOCH.tzinfo) - EPOCH).days * DAY
_ALL_CALENDARS = 41 * 366 * DAY
_EARLIEST = (datetime.min.replace(tzinfo=EPOCH.tzinfo) - EPOCH).days * DAY + _APART
_LATEST = (datetime.max.replace(tzinfo=EPOCH.tzinfo) - EPOCH).days * DAY - _APART


class Window(NamedTuple):
    """A stretch [start, end) of epoch seconds in which the zone's offset is constant.

    Wall times count in [opens, closes) only: the rest repeats them and the fold policy leaves it out.
    *gap_before* and *gap_after* are the seconds of wall time missing at start and end, when those are due.
    """

    start: int
    opens: int
    closes: int
    end: int
    offset: int
    gap_before: int
    gap_after: int


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
        piece = at >> _PIECE
        windows = self._charts.get(piece)
        if windows is None:
            windows = self._charts[piece] = self._chart(piece << _PIECE, (piece + 1) << _PIECE)
        for window in windows:
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

    def _chart(self, low: int, high: int) -> tuple[Window, ...]:
        """The windows of [low, high), cut off at both."""
        shifts = self.shifts(low - _APART, high + _APART)
        edges = [Shift(low - _APART, 0, 0), *shifts, Shift(high + _APART, 0, 0)]
        offset = shifts[0].before if shifts else self._offset(low)
        windows = []
        for opening, closing in pairwise(edges):
            if opening in shifts:
                offset = opening.after
            if opening.at < high and closing.at > low:
                windows.append(self._window(opening, closing, offset, low, high))
        return tuple(windows)

    def _window(self, opening: Shift, closing: Shift, offset: int, low: int, high: int) -> Window:
        start, end = max(opening.at, low), min(closing.at, high)
        repeats = opening.before - opening.after if self.fold == "first" else 0
        repeated = closing.before - closing.after if self.fold == "second" else 0
        skips = self.gap == "after"
        return Window(
            start=start,
            opens=max(opening.at + max(repeats, 0), start),
            closes=min(closing.at - max(repeated, 0), end),
            end=end,
            offset=offset,
            gap_before=max(opening.after - opening.before, 0) if skips and opening.at == start else 0,
            gap_after=max(closing.after - closing.before, 0) if skips and closing.at == end else 0,
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
        instant = EPOCH + timedelta(seconds=min(max(at, _EARLIEST), _LATEST))
        offset = instant.astimezone(zone(self.tz)).utcoffset() or timedelta(0)
        return offset.days * DAY + offset.seconds


def wall_of(tz: object, gap: object, fold: object) -> Wall:
    """The wall clock of *tz* under these policies; equal ones are shared, with what is charted of them."""
    if gap not in get_args(Gap):
        raise InvalidSchedule("gap", gap, '"skip" or "after"')
    if fold not in get_args(Fold):
        raise InvalidSchedule("fold", fold, '"both", "first" or "second"')
    return _wall_of(zone(zone_name(tz)).key, gap, fold)


@cache
def _wall_of(tz: str, gap: Gap, fold: Fold) -> Wall:
    return Wall(tz, gap, fold)


@dataclass(frozen=True, slots=True, repr=False)
class WallSchedule(DueBySecond):
    """Due when the wall clock reads one of these times on one of these days.

    Bit n of *at_hours*, *at_minutes* and *at_seconds* is set when the value n is due.
    """

    at_hours: int
    at_minutes: int
    at_seconds: int
    days: Days
    wall: Wall

    @property
    def tz(self) -> str:
        return self.wall.tz

    def due_from(self, at: int) -> int | None:
        # Inside a window the offset is constant and the wall clock is plain arithmetic. An answer past
        # its end is asked for again from there: so a gap is not due and a repeat is due twice.
        horizon = max(at, _SETTLED) + _ALL_CALENDARS
        while at < horizon:
            _, opens, closes, end, offset, _, gap_after = self.wall.window(at)
            reading = self._first_reading((at if at > opens else opens) + offset)
            if reading is None:
                return None
            due = reading - offset
            if due < closes:
                return due
            if due < end + gap_after:
                return end
            # Far ahead of a shift nothing is repeated that was not looked at: on to the day itself.
            at = max(end, due - _APART) if end - at > _APART else end
        return None

    def due_until(self, at: int) -> int | None:
        asked = at
        while True:
            start, opens, closes, _, offset, gap_before, _ = self.wall.window(at)
            reading = self._last_reading(min(at, closes - 1) + offset)
            if reading is None:
                return None
            due = reading - offset
            if due >= opens:
                return due
            if due >= start - gap_before:
                return start
            at = min(start - 1, due + _APART) if at - start > _APART else start - 1
            if _SETTLED < at < asked - _ALL_CALENDARS:
                at = _SETTLED

    def _first_reading(self, reading: int) -> int | None:
        """The first due wall time at or after *reading*, both in seconds as if the zone were UTC."""
        today, second = divmod(reading, DAY)
        day = self.days.first_from(today)
        if day == today:
            hour, rest = divmod(second, 3600)
            hours = self.at_hours >> hour
            if hours & 1:
                minute, second = divmod(rest, 60)
                minutes = self.at_minutes >> minute
                if minutes & 1:
                    seconds = self.at_seconds >> second
                    if seconds:
                        return reading + _lowest(seconds)
                    minutes -= 1
                if minutes:
                    return reading - second + 60 * _lowest(minutes) + _lowest(self.at_seconds)
                hours -= 1
            if hours:
                return reading - rest + 3600 * _lowest(hours) + self._first_in_hour()
            day = self.days.first_from(today + 1)
        if day is None:
            return None
        return day * DAY + 3600 * _lowest(self.at_hours) + self._first_in_hour()

    def _last_reading(self, reading: int) -> int | None:
        """The last due wall time at or before *reading*."""
        today, second = divmod(reading, DAY)
        day = self.days.last_until(today)
        if day == today:
            hour, rest = divmod(second, 3600)
            minute, second = divmod(rest, 60)
            hours = self.at_hours & (2 << hour) - 1
            if hours >> hour:
                minutes = self.at_minutes & (2 << minute) - 1
                if minutes >> minute:
                    seconds = self.at_seconds & (2 << second) - 1
                    if seconds:
                        return reading - second + _highest(seconds)
                    minutes -= 1 << minute
                if minutes:
                    return reading - rest + 60 * _highest(minutes) + _highest(self.at_seconds)
                hours -= 1 << hour
            if hours:
                return today * DAY + 3600 * _highest(hours) + self._last_in_hour()
            day = self.days.last_until(today - 1)
        if day is None:
            return None
        return day * DAY + 3600 * _highest(self.at_hours) + self._last_in_hour()

    def _first_in_hour(self) -> int:
        return 60 * _lowest(self.at_minutes) + _lowest(self.at_seconds)

    def _last_in_hour(self) -> int:
        return 60 * _highest(self.at_minutes) + _highest(self.at_seconds)


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _highest(mask: int) -> int:
    return mask.bit_length() - 1
