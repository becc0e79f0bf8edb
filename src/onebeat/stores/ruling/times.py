"""Times in rows: whole microseconds since the Unix epoch, which are exact and sort."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(instant: datetime) -> int:
    return (instant - _EPOCH) // MICROSECOND


def instant(micros_: int) -> datetime:
    return _EPOCH + micros_ * MICROSECOND


def micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def instant_or_none(micros_: int | None) -> datetime | None:
    return None if micros_ is None else instant(micros_)
