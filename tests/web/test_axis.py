"""Where the lines of a scale stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.web.views.axis import length_label, length_steps, time_steps

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Apia", "America/Havana")
]
moments = st.integers(1_104_537_600, 2_082_758_400).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
lengths = st.one_of(st.integers(20, 700), st.integers(600, 700_000), st.integers(700_000, 10**9))


@given(moments, lengths, st.sampled_from(ZONES))
def test_steps_lie_in_the_window_in_order_and_are_few(since: datetime, length: int, zone: ZoneInfo) -> None:
    until = since + timedelta(seconds=length)
    steps = time_steps(since, until, zone)
    assert len(steps) <= 11
    assert all(since <= step.at <= until for step in steps)
    assert all(before.at < after.at for before, after in pairwise(steps))


@given(moments, st.integers(20, 700) | st.integers(600, 700_000), st.sampled_from(ZONES))
def test_steps_within_days_stand_at_what_the_wall_clock_reads(
    since: datetime, length: int, zone: ZoneInfo
) -> None:
    for step in time_steps(since, since + timedelta(seconds=length), zone):
        wall = step.at.astimezone(zone)
        if wall.second:
            assert step.label == f"{wall:%H:%M:%S}"
        else:
            assert step.label in (f"{wall:%H:%M}", f"{wall:%H:%M:%S}", f"{wall:%b} {wall.day}")


def test_a_day_without_some_hour_has_no_step_there_and_one_that_repeats_an_hour_has_one() -> None:
    def labels(day: datetime) -> list[str]:
        return [step.label for step in time_steps(day, day + timedelta(hours=6), BERLIN)]

    assert labels(datetime(2027, 3, 28, tzinfo=UTC)) == [
        "01:00",
        "03:00",
        "04:00",
        "05:00",
        "06:00",
        "07:00",
        "08:00",
    ]
    assert labels(datetime(2027, 10, 30, 22, tzinfo=UTC)) == [
        "Oct 31",
        "01:00",
        "02:00",
        "03:00",
        "04:00",
        "05:00",
    ]


def test_of_a_few_minutes_the_seconds_are_told() -> None:
    since = datetime(2027, 3, 1, 12, 0, 7, tzinfo=UTC)
    labels = [step.label for step in time_steps(since, since + timedelta(seconds=40), BERLIN)]
    assert labels == [
        "13:00:10",
        "13:00:15",
        "13:00:20",
        "13:00:25",
        "13:00:30",
        "13:00:35",
        "13:00:40",
        "13:00:45",
    ]


@given(st.floats(-1e4, 0), st.floats(0.001, 1e8))
def test_lengths_are_round_and_few(low: float, high: float) -> None:
    steps = length_steps(low, high)
    assert 1 <= len(steps) <= 11
    assert all(low - 1e-6 <= step <= high * 1.000001 for step in steps)
    assert all(before < after for before, after in pairwise(steps))


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        (0, "0"),
        (0.02, "20 ms"),
        (0.5, "500 ms"),
        (2, "2 s"),
        (90, "1.5 min"),
        (7_200, "2 h"),
        (-5, "-5 s"),
        (172_800, "2 d"),
    ],
)
def test_a_round_length_is_told_in_one_unit(seconds: float, label: str) -> None:
    assert length_label(seconds) == label
