"""every, hourly and daily."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.hourly import hourly

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_moments = st.datetimes(datetime(1950, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.integers(1, 10_000_000), _moments, st.integers(0, 7_000_000))
def test_replicas_that_wake_apart_name_the_same_ticks(period: int, one: datetime, apart: int) -> None:
    """S-EVERY: due at multiples of the duration since the Unix epoch."""
    other = one + timedelta(microseconds=apart)
    schedule = every(period)
    due = schedule.next_after(one)
    assert due is not None
    assert (due - _EPOCH) % timedelta(seconds=period) == timedelta(0)
    assert one < due <= one + timedelta(seconds=period)
    if due > other:
        assert schedule.next_after(other) == due
    before = schedule.previous_before(one)
    assert before is not None
    assert before < one
    assert schedule.next_after(before) in (due, one)


def test_a_duration_is_given_in_any_of_its_ways() -> None:
    """S-EVERY: whole seconds, however they are written."""
    same = [
        every(5400),
        every(5400.0),
        every(timedelta(minutes=90)),
        every(hours=1, minutes=30),
        every(hours=1.5),
        every(minutes=90),
        cron("@every 1h30m"),
    ]
    assert set(same) == {every(seconds=5400)}
    assert every(hours=1.1) == every(seconds=3960)
    assert every(minutes=0.1) == every(seconds=6)


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"duration": 0},
        {"duration": -5},
        {"duration": 1.5},
        {"duration": 0.999},
        {"duration": float("nan")},
        {"duration": float("inf")},
        {"duration": True},
        {"duration": "5m"},
        {"duration": timedelta(milliseconds=1500)},
        {"duration": timedelta(0)},
        {"duration": 10**20},
        {"duration": 5, "seconds": 5},
        {"minutes": -1},
        {"seconds": 1e-9},
        {"minutes": 1, "seconds": -60},
        {"hours": "1"},
    ],
)
def test_anything_but_whole_seconds_is_refused(keywords: dict[str, Any]) -> None:
    """S-EVERY: a fraction, zero or a negative is InvalidSchedule."""
    with pytest.raises(InvalidSchedule):
        every(**keywords)


def test_every_quarter_equals_hourly_where_the_offset_is_a_multiple_of_it() -> None:
    """S-MINUTE: every(minutes=15) is due with hourly(0, 15, 30, 45), also in zones off by half an hour."""
    moment = datetime(2026, 10, 3, 0, 1, tzinfo=UTC)
    for tz in ("UTC", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"):
        one, other = every(minutes=15), hourly(45, 0, 30, 15, tz=tz)
        due = moment
        for _ in range(300):
            following = one.next_after(due)
            assert following == other.next_after(due)
            assert following is not None
            due = following


def test_an_hour_begins_at_the_local_hour() -> None:
    """S-MINUTE: zones off by half an hour use hourly with their zone."""
    moment = datetime(2026, 5, 5, 12, 1, tzinfo=UTC)
    assert hourly(0, tz="Asia/Kolkata").next_after(moment) == datetime(2026, 5, 5, 12, 30, tzinfo=UTC)
    assert daily(18, tz="Asia/Kolkata").next_after(moment) == datetime(2026, 5, 5, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize("minutes", [(), (60,), (-1,), (0, 0), (True,), (1.0,), ("5",), (None,)])
def test_hourly_refuses_minutes_that_are_none(minutes: tuple[Any, ...]) -> None:
    """S-MINUTE: at least one minute, each 0–59, none twice."""
    with pytest.raises(InvalidSchedule):
        hourly(*minutes)


@pytest.mark.parametrize("time", [(24,), (-1,), (0, 60), (0, -1), (True,), (1.5,), ("3",), (3, None)])
def test_daily_refuses_times_that_are_none(time: tuple[Any, ...]) -> None:
    """S-MINUTE: hour 0–23, minute 0–59."""
    with pytest.raises(InvalidSchedule):
        daily(*time)


def test_the_order_of_minutes_is_free() -> None:
    """S-MINUTE: hourly's minutes are a set."""
    assert hourly(30, 0, 15) == hourly(0, 15, 30)
