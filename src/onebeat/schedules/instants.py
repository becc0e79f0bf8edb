"""Instants outside, whole seconds since the Unix epoch inside."""

from __future__ import annotations

from abc import abstractmethod
from datetime import UTC, datetime, timedelta

from onebeat.errors import InvalidSchedule
from onebeat.schedules.compose import Composable

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400
_from_timestamp = datetime.fromtimestamp


def epoch_seconds(moment: datetime) -> tuple[int, int]:
    """The whole seconds up to *moment*, and the microseconds past them. Raises for a naive one."""
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise _not_an_instant(moment)
    since = moment - EPOCH
    return since.days * DAY + since.seconds, since.microseconds


def instant(seconds: int | None) -> datetime | None:
    """The UTC instant of *seconds*; None for None and for what no datetime can name."""
    if seconds is None:
        return None
    try:
        return EPOCH + timedelta(0, seconds)
    except OverflowError:
        return None


class DueBySecond(Composable):
    """A schedule whose due instants are whole seconds: its kinds answer in integers only."""

    __slots__ = ()

    @abstractmethod
    def due_from(self, at: int) -> int | None:
        """The first due second at or after *at*."""

    @abstractmethod
    def due_until(self, at: int) -> int | None:
        """The last due second at or before *at*."""

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due instant strictly later than *moment*, in UTC; None if there is none."""
        # Not by epoch_seconds and instant: this is the hot path, and a call costs a tenth of it.
        try:
            since = moment - EPOCH
        except TypeError:
            raise _not_an_instant(moment) from None
        due = self.due_from(since.days * DAY + since.seconds + 1)
        if due is None:
            return None
        try:
            return _from_timestamp(due, UTC)
        except (
            ValueError,
            OverflowError,
            OSError,
        ):  # past the year 9999, or past what this platform converts
            return instant(due)

    def previous_before(self, moment: datetime) -> datetime | None:
        """The last due instant strictly earlier than *moment*, in UTC; None if there is none."""
        seconds, microseconds = epoch_seconds(moment)
        return instant(self.due_until(seconds if microseconds else seconds - 1))

    def matches(self, moment: datetime) -> bool:
        """Whether *moment* is itself a due instant, to the microsecond."""
        seconds, microseconds = epoch_seconds(moment)
        return microseconds == 0 and self.due_from(seconds) == seconds


def _not_an_instant(moment: object) -> InvalidSchedule:
    return InvalidSchedule("moment", moment, "a timezone-aware datetime", "datetime.now(UTC), say")
