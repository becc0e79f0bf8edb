"""Due at given minutes of every local hour."""

from __future__ import annotations

from dataclasses import dataclass

from onebeat.errors import InvalidSchedule
from onebeat.schedules.days import EVERY_DAY
from onebeat.schedules.local import checked_number
from onebeat.schedules.timetable import EVERY_HOUR, Timetable
from onebeat.schedules.wall import ClockChange, Fold, Gap, wall_of


@dataclass(frozen=True, slots=True, repr=False)
class Hourly(Timetable):
    """Due at the same minutes of every local hour."""

    @property
    def minutes(self) -> tuple[int, ...]:
        return tuple(minute for minute in range(60) if self.at_minutes >> minute & 1)

    def __reduce__(self) -> tuple[object, ...]:
        return _hourly, (self.minutes, self.wall.tz, self.wall.gap, self.wall.fold)

    def __repr__(self) -> str:
        return f"hourly({', '.join(map(str, self.minutes))}{self.wall.settings})"


def hourly(
    *minutes: int,
    tz: str = "UTC",
    gap: Gap = "skip",
    fold: Fold = "both",
    policy: ClockChange | None = None,
) -> Hourly:
    """Due at these minutes of every hour in *tz*: at least one, each 0–59, none twice, in any order."""
    return _hourly(minutes, tz, gap, fold, policy)


def _hourly(
    minutes: tuple[int, ...],
    tz: str,
    gap: Gap,
    fold: Fold,
    policy: ClockChange | None = None,
) -> Hourly:
    if not minutes:
        raise InvalidSchedule("minutes", minutes, "at least one minute")
    mask = 0
    for minute in minutes:
        bit = 1 << checked_number("minutes", minute, 59)
        if mask & bit:
            raise InvalidSchedule("minutes", minutes, "each minute once")
        mask |= bit
    return Hourly(EVERY_HOUR, mask, 1, EVERY_DAY, wall_of(tz, gap, fold, policy, fixed=False))
