"""Which ticks a win leaves behind it, and what a job still owes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from onebeat.engine.missed import MOST_MISSED, missed_between, owed_between
from onebeat.schedules.every import every

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EVERY_MINUTE = every(minutes=1)
DAY = timedelta(days=1)


def test_what_lies_between_is_missed() -> None:
    """F-VERDICT: the ticks between a won one and the one up to which all are accounted for."""
    assert missed_between(EVERY_MINUTE, NOON, NOON - 3 * MINUTE) == (NOON - 2 * MINUTE, NOON - MINUTE)
    assert missed_between(EVERY_MINUTE, NOON, NOON - MINUTE) == ()
    assert missed_between(EVERY_MINUTE, NOON, NOON + MINUTE) == ()
    assert missed_between(EVERY_MINUTE, NOON, None) == ()


def test_of_very_many_the_newest_are_written_down() -> None:
    missed = missed_between(every(seconds=1), NOON, NOON - DAY)
    assert len(missed) == MOST_MISSED
    assert missed[-1] == NOON - timedelta(seconds=1)
    assert list(missed) == sorted(missed)


def owed(
    watermark: datetime | None, owed_since: datetime, *, window: timedelta = DAY, most: int = 100
) -> int:
    return len(owed_between(EVERY_MINUTE, watermark, owed_since, NOON, window=window, most=most))


def test_a_job_owes_what_came_due_since_its_newest_claim() -> None:
    """C-CATCH: the tick due at this very moment included."""
    assert owed_between(
        EVERY_MINUTE, NOON - 2 * MINUTE, NOON - DAY, NOON, window=DAY, most=100
    ) == (NOON - MINUTE, NOON)  # fmt: skip
    assert owed(NOON, NOON - DAY) == 0


def test_what_a_job_owes_is_bounded_by_registration_window_and_number() -> None:
    """C-CATCH: never from before the job was registered or changed, within a window and a cap."""
    assert owed(None, NOON - 5 * MINUTE) == 5
    assert owed(NOON - 9 * MINUTE, NOON - 5 * MINUTE) == 5
    assert owed(NOON - DAY, NOON - 2 * DAY, window=3 * MINUTE) == 3
    newest = owed_between(EVERY_MINUTE, None, NOON - DAY, NOON, window=DAY, most=2)
    assert newest == (NOON - MINUTE, NOON)
