"""Due when a wall clock reads one of some times on one of some days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from onebeat.schedules.days import Days
from onebeat.schedules.instants import DAY, EPOCH, DueBySecond
from onebeat.schedules.wall import APART, Wall

EVERY_HOUR = (1 << 24) - 1

# No zone changes its rules later, and from then on 41 years hold every calendar a year can have.
_SETTLED = (datetime(2088, 1, 1, tzinfo=UTC) - EPOCH).days * DAY
_ALL_CALENDARS = 41 * 366 * DAY


@dataclass(frozen=True, slots=True, repr=False)
class Timetable(DueBySecond):
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
        # its end is taken up again from there: so a gap is not due and a repeat is due twice.
        asked, reading = at, None
        while True:
            start, opens, closes, end, offset, gap = self.wall.window(at)
            begin = (at if at > opens else opens) + offset
            if gap and at == start:
                begin -= gap  # what was due in the gap is due now
            if reading is None or reading < begin:
                reading = self.first_reading(begin)
                if reading is None:
                    return None
            due = reading - offset
            if due < closes:
                return due if due > at else at
            if end - at > APART:
                # What the next shift may repeat was searched already: on to the day itself.
                at = max(end, due - APART)
            else:
                at, reading = end, None
            if at > max(asked, _SETTLED) + _ALL_CALENDARS:
                return None

    def due_until(self, at: int) -> int | None:
        asked = at
        while True:
            start, opens, closes, _, offset, gap = self.wall.window(at)
            reading = self._last_reading(min(at, closes - 1) + offset)
            if reading is None:
                return None
            due = reading - offset
            if due >= opens:
                return due
            if gap and due >= start - gap:
                return start
            at = min(start - 1, due + APART) if at - start > APART else start - 1
            if _SETTLED < at < asked - _ALL_CALENDARS:
                at = _SETTLED

    def first_reading(self, reading: int) -> int | None:
        """The first due wall time at or after *reading*, both in seconds as if the zone were UTC."""
        days, today = self.days, reading // DAY
        due = self._first_today(reading)
        if due is None:
            today += 1
        elif days.every:
            return due
        day = today if days.every else days.first_from(today)
        if day is None:
            return None
        if due is not None and day == today:
            return due
        # Written out, here and below: calls would cost a fifth of the whole answer.
        hours, minutes, seconds = self.at_hours, self.at_minutes, self.at_seconds
        first = 3600 * (hours & -hours).bit_length() + 60 * (minutes & -minutes).bit_length()
        return day * DAY + first + (seconds & -seconds).bit_length() - 3661

    def _first_today(self, reading: int) -> int | None:
        """The first due time at or after *reading* on its day, whatever the day; None when there is none."""
        # A mask shifted right holds what is still to come, and its lowest bit comes first.
        second = reading % DAY
        hours, minutes, seconds = self.at_hours >> second // 3600, self.at_minutes, self.at_seconds
        if hours & 1:
            second %= 3600
            minutes >>= second // 60
            if minutes & 1:
                left = seconds >> second % 60
                if left:
                    return reading + (left & -left).bit_length() - 1
                minutes -= 1
            if minutes:
                ahead = 60 * (minutes & -minutes).bit_length() + (seconds & -seconds).bit_length()
                return reading - second % 60 + ahead - 61
            hours, minutes = hours - 1, self.at_minutes
        if not hours:
            return None
        ahead = 3600 * (hours & -hours).bit_length() + 60 * (minutes & -minutes).bit_length()
        return reading - second % 3600 + ahead + (seconds & -seconds).bit_length() - 3661

    def _last_reading(self, reading: int) -> int | None:
        """The last due wall time at or before *reading*."""
        today = reading // DAY
        due = self._last_today(reading)
        if due is None:
            today -= 1
        day = self.days.last_until(today)
        if due is not None and day == today:
            return due
        if day is None:
            return None
        return day * DAY + 3600 * _highest(self.at_hours) + self._last_in_hour()

    def _last_today(self, reading: int) -> int | None:
        """The last due time at or before *reading* on its day, whatever the day; None when there is none."""
        hour, second = divmod(reading % DAY, 3600)
        hours = self.at_hours & (2 << hour) - 1
        if hours >> hour:
            minute = second // 60
            minutes = self.at_minutes & (2 << minute) - 1
            if minutes >> minute:
                seconds = self.at_seconds & (2 << second % 60) - 1
                if seconds:
                    return reading - second % 60 + _highest(seconds)
                minutes -= 1 << minute
            if minutes:
                return reading - second + 60 * _highest(minutes) + _highest(self.at_seconds)
            hours -= 1 << hour
        if not hours:
            return None
        return reading - second + 3600 * (_highest(hours) - hour) + self._last_in_hour()

    def _last_in_hour(self) -> int:
        return 60 * _highest(self.at_minutes) + _highest(self.at_seconds)


def _highest(mask: int) -> int:
    return mask.bit_length() - 1
