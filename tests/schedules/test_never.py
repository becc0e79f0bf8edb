"""Dates that never come, or come once in a long time. Work is counted, not timed."""

from __future__ import annotations

from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from onebeat.schedules.cron import cron
from onebeat.schedules.days import Days
from onebeat.schedules.wall import Wall

_MOMENT = datetime(2026, 5, 5, 12, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Pacific/Apia"])
@pytest.mark.parametrize(
    "text",
    ["0 0 31 2 *", "0 0 30 2 *", "0 0 30,31 2 *", "0 0 31 4,6,9,11 *", "0 0 31W 2 *", "0 0 L-30 2,4 *"],
)
def test_a_date_that_never_comes_is_none_at_once(text: str, tz: str) -> None:
    """S-NEXT: 31 February must answer None at once, not search for ever."""
    schedule = cron(text, tz, extended=True)
    with patch.object(Days, "_in_month", autospec=True, side_effect=Days._in_month) as looked_at:
        assert schedule.next_after(_MOMENT) is None
        assert schedule.previous_before(_MOMENT) is None
        assert not schedule.matches(_MOMENT)
    assert looked_at.call_count <= 3 * 42 * 4


def test_a_time_that_always_falls_into_the_gap_is_none() -> None:
    """S-NEXT, S-DST: 02:30 on the second Sunday of March never exists in New York any more."""
    schedule = cron("30 2 * 3 0#2", "America/New_York", extended=True)
    with patch.object(Wall, "window", autospec=True, side_effect=Wall.window) as looked_at:
        assert schedule.next_after(_MOMENT) is None
        assert schedule.previous_before(_MOMENT) == datetime(2006, 3, 12, 7, 30, tzinfo=UTC)
        far = datetime(9000, 1, 1, tzinfo=UTC)
        assert schedule.previous_before(far) == datetime(2006, 3, 12, 7, 30, tzinfo=UTC)
        assert schedule.next_after(far) is None
    assert looked_at.call_count < 2_500


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("0 0 * 2 1#5", datetime(2044, 2, 29, tzinfo=UTC)),
        ("0 0 * 2 0#5", datetime(2032, 2, 29, tzinfo=UTC)),
        ("0 0 29W 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("0 0 L-28 2 *", datetime(2028, 2, 1, tzinfo=UTC)),
    ],
)
def test_a_rare_date_is_found(text: str, due: datetime) -> None:
    """S-NEXT: the first due instant, however far."""
    schedule = cron(text, extended=True)
    assert schedule.next_after(_MOMENT) == due
    following = schedule.next_after(due)
    assert following is not None
    assert schedule.previous_before(following) == due


def test_the_longest_wait_of_the_calendar_is_found() -> None:
    """S-NEXT: between 2072 and 2112 no February has five Mondays... 2100 is no leap year."""
    schedule = cron("0 0 * 2 1#5", extended=True)
    assert schedule.next_after(datetime(2072, 3, 1, tzinfo=UTC)) == datetime(2112, 2, 29, tzinfo=UTC)


def test_the_end_of_the_calendar_is_the_end() -> None:
    """S-NEXT: past year 9999 answers None."""
    schedule = cron("0 0 29 2 *")
    assert schedule.next_after(datetime(9996, 2, 29, tzinfo=UTC)) is None
    assert schedule.previous_before(datetime(4, 2, 29, tzinfo=UTC)) is None
    assert schedule.next_after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)) is None
