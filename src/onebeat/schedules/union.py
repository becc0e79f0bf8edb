"""Due when any of several schedules is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from onebeat.schedule import Schedule, for_job
from onebeat.schedules.compose import Composable, plain_parts
from onebeat.schedules.parse import schedule_of


@dataclass(frozen=True, slots=True, repr=False)
class Union(Composable):
    """Due when one of its parts is; once where several are due at the same instant."""

    joined: ClassVar[bool] = True
    parts: tuple[Schedule, ...]

    def parts_of(self) -> tuple[Schedule, ...]:
        return tuple(plain for part in self.parts for plain in plain_parts(part))

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*; None if there is none."""
        dues = [part.next_after(moment) for part in self.parts]
        return min((due for due in dues if due is not None), default=None)

    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*; None if there is none."""
        dues = [part.previous_before(moment) for part in self.parts]
        return max((due for due in dues if due is not None), default=None)

    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""
        return any(part.matches(moment) for part in self.parts)

    def for_job(self, job_id: str) -> Schedule:
        """The same of what its parts are for *job_id*."""
        return union(*(for_job(part, job_id) for part in self.parts))  # two H may be drawn alike

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.parts))


def union(*given: object) -> Union:
    """Due when any of these is. Unions among them are taken apart, and none counts twice."""
    parts: list[Schedule] = []
    for schedule in map(schedule_of, given):
        parts += schedule.parts if isinstance(schedule, Union) else [schedule]
    return Union(tuple(dict.fromkeys(parts)))
