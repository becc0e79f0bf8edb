"""Days as a wall clock has them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from onebeat.web.views.local_days import days_from, hours_of, instant_of, local_day, minute_of


@pytest.mark.parametrize(
    ("tz", "day", "minutes", "rows", "said"),
    [
        ("UTC", date(2027, 3, 28), 1440, 24, ""),
        ("Europe/Berlin", date(2027, 3, 28), 1380, 23, "23 hours"),
        ("Europe/Berlin", date(2027, 10, 31), 1500, 25, "25 hours"),
        ("Australia/Lord_Howe", date(2027, 4, 4), 1470, 25, "24.5 hours"),
        ("Australia/Lord_Howe", date(2027, 10, 3), 1410, 24, "23.5 hours"),
        ("America/Santiago", date(2027, 9, 5), 1380, 23, "23 hours"),  # there is no midnight
        ("America/Havana", date(2027, 11, 7), 1500, 25, "25 hours"),  # midnight comes twice
        ("Pacific/Apia", date(2011, 12, 30), 0, 0, "0 hours"),  # it never was
    ],
)
def test_a_day_is_as_long_as_its_wall_clock_makes_it(
    tz: str, day: date, minutes: int, rows: int, said: str
) -> None:
    """S-DST: days on which clocks change have 23 hours, or 25."""
    found = local_day(day, ZoneInfo(tz))
    hours = hours_of(found, ZoneInfo(tz))
    assert (found.end - found.start, len(hours), found.length) == (minutes, rows, said)
    assert sum(hour.end - hour.start for hour in hours) == minutes
    assert all(one.end == other.start for one, other in pairwise(hours))
    assert all(instant_of(hour.start).astimezone(ZoneInfo(tz)).date() == day for hour in hours)


def test_an_hour_that_comes_twice_says_which() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    labels = [hour.label for hour in hours_of(local_day(date(2027, 10, 31), berlin), berlin)]
    assert labels[1:5] == ["01", "02 CEST", "02 CET", "03"]


def test_half_an_hour_that_comes_twice_stands_where_it_was() -> None:
    howe = ZoneInfo("Australia/Lord_Howe")
    twice = [hour for hour in hours_of(local_day(date(2027, 4, 4), howe), howe) if hour.hour == 1]
    assert [(hour.first, hour.end - hour.start) for hour in twice] == [(0, 60), (30, 30)]


def test_days_follow_each_other_without_a_gap() -> None:
    days = days_from(date(2027, 3, 20), 28, ZoneInfo("Europe/Berlin"))
    assert all(one.end == other.start for one, other in pairwise(days))
    assert days[0].start == minute_of(datetime(2027, 3, 19, 23, tzinfo=UTC))
