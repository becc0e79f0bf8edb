"""Due once a day."""

from __future__ import annotations

from dataclasses import dataclass

from onebeat.schedules.days import EVERY_DAY
from onebeat.schedules.local import checked_number
from onebeat.schedules.timetable import Timetable
from onebeat.schedules.wall import ClockChange, Fold, Gap, wall_of


@dataclass(frozen=True, slots=True, repr=False)
class Daily(Timetable):
    """Due at one local time of every day."""

    @property
    def hour(self) -> int:
        return self.at_hours.bit_length() - 1

    @property
    def minute(self) -> int:
        return self.at_minutes.bit_length() - 1

    def __reduce__(self) -> tuple[object, ...]:
        return daily, (self.hour, self.minute, self.wall.tz, self.wall.gap, self.wall.fold)

    def __repr__(self) -> str:
        return f"daily({self.hour}, {self.minute}{self.wall.settings})"


def daily(
    hour: int,
    minute: int = 0,
    tz: str = "UTC",
    gap: Gap = "skip",
    fold: Fold = "both",
    policy: ClockChange | None = None,
) -> Daily:
    """Due at *hour*:*minute* of every day in *tz*."""
    hours = 1 << checked_number("hour", hour, 23)
    minutes = 1 << checked_number("minute", minute, 59)
    return Daily(hours, minutes, 1, EVERY_DAY, wall_of(tz, gap, fold, policy))
