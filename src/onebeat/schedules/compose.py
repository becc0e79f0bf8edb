"""What every schedule of ours can be made into: a union, a part, a difference (S-MORE)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from onebeat.schedule import Schedule

if TYPE_CHECKING:
    from onebeat.schedules.between import Between
    from onebeat.schedules.closed import Closed
    from onebeat.schedules.union import Union
    from onebeat.schedules.without import Without


class Composable(ABC):
    """Gives a schedule `|`, `-`, `until` and `between`.

    A schedule written elsewhere, or a text, may stand on either side of an operator.
    """

    # Imported late: what these make is itself composable.

    __slots__ = ()

    joined: ClassVar[bool] = False
    """Whether its repr is an expression that wants parentheses."""

    @abstractmethod
    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*, in UTC; None if there is none."""

    @abstractmethod
    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*, in UTC; None if there is none."""

    @abstractmethod
    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""

    def parts_of(self) -> tuple[Schedule, ...]:
        """The schedules it is made of, which together are due at all its instants or more."""
        return (self,)

    def until(self, end: datetime) -> Between:
        """Due as long as it is earlier than *end*."""
        from onebeat.schedules.between import between

        return between(self, None, end)

    def between(self, start: datetime, end: datetime) -> Between:
        """Due from *start* on, as long as it is earlier than *end*."""
        from onebeat.schedules.between import between

        return between(self, start, end)

    def __or__(self, other: Schedule | str) -> Union:
        from onebeat.schedules.union import union

        return union(self, other) if operand(other) else NotImplemented

    def __ror__(self, other: Schedule | str) -> Union:
        from onebeat.schedules.union import union

        return union(other, self) if operand(other) else NotImplemented

    def __sub__(self, other: Closed | Schedule | str) -> Without:
        from onebeat.schedules.closed import Closed
        from onebeat.schedules.without import without

        return without(self, other) if isinstance(other, Closed) or operand(other) else NotImplemented

    def __rsub__(self, other: Schedule | str) -> Without:
        from onebeat.schedules.without import without

        return without(other, self) if operand(other) else NotImplemented


def plain_parts(schedule: Schedule) -> tuple[Schedule, ...]:
    """The schedules that *schedule* is made of; itself when it was written elsewhere."""
    return schedule.parts_of() if isinstance(schedule, Composable) else (schedule,)


def shown(part: object) -> str:
    """The repr of *part* as it stands in an expression."""
    return f"({part!r})" if isinstance(part, Composable) and part.joined else repr(part)


def operand(other: object) -> bool:
    """Whether *other* may stand beside a schedule."""
    return isinstance(other, str) or (isinstance(other, Schedule) and not isinstance(other, type))
