"""Random texts, zones and instants: the answers are those of looking at every instant."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onebeat.schedule import Schedule
from onebeat.schedules import dues
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.hourly import hourly
from onebeat.schedules.wall import Fold, Gap
from tests.schedules.expressions import folds, gaps, places, specs
from tests.schedules.oracle import Spec, due_between, fixed_time_between

_TICK = timedelta(microseconds=1)
_MINUTE, _SECOND = timedelta(minutes=1), timedelta(seconds=1)
_many = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _forward(schedule: Schedule, start: datetime, end: datetime) -> Iterator[datetime]:
    return dues.due_between(schedule, start - _TICK, end)


def _backward(schedule: Schedule, start: datetime, end: datetime) -> Iterator[datetime]:
    due = schedule.previous_before(end + _TICK)
    while due is not None and due >= start:
        yield due
        due = schedule.previous_before(due)


def _agrees(schedule: Schedule, expected: list[datetime], start: datetime, end: datetime) -> None:
    assert list(_forward(schedule, start, end)) == expected
    assert list(_backward(schedule, start, end)) == expected[::-1]
    for due in expected[:50]:
        assert schedule.matches(due)
        assert not schedule.matches(due + _TICK)


@_many
@given(specs(extended=False, seconds=False), places(), gaps, folds)
def test_standard_texts_agree_with_looking_at_every_minute(
    spec: Spec, place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-DST: due when the wall clock matches; gaps and repeats as the policy says, whatever the zone."""
    tz, start = place
    end = start + timedelta(hours=40)
    expected = list(due_between(spec, ZoneInfo(tz), start, end, _MINUTE, gap, fold))
    _agrees(cron(spec.text, tz, gap=gap, fold=fold), expected, start, end)


@_many
@given(specs(extended=True, seconds=False), places(), gaps, folds)
def test_extended_texts_agree_with_looking_at_every_minute(
    spec: Spec, place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-CRON: the wider grammar is due when its wall time matches."""
    tz, start = place
    end = start + timedelta(hours=40)
    expected = list(due_between(spec, ZoneInfo(tz), start, end, _MINUTE, gap, fold))
    _agrees(cron(spec.text, tz, extended=True, gap=gap, fold=fold), expected, start, end)


@_many
@given(specs(extended=True, seconds=True), places(), gaps, folds)
def test_texts_with_seconds_agree_with_looking_at_every_second(
    spec: Spec, place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-CRON: six fields are due to the second."""
    tz, start = place
    end = start + timedelta(minutes=50)
    expected = list(due_between(spec, ZoneInfo(tz), start, end, _SECOND, gap, fold))
    _agrees(cron(spec.text, tz, extended=True, seconds=True, gap=gap, fold=fold), expected, start, end)


@_many
@given(specs(extended=True, seconds=False), st.dates(date(1971, 1, 1), date(2399, 1, 1)))
def test_days_agree_with_looking_at_every_day_of_three_years(spec: Spec, first: date) -> None:
    """S-CRON: day-of-month OR day-of-week when both are restricted, else both."""
    days = [first + timedelta(days=n) for n in range(3 * 365)]
    expected = [day for day in days if spec.on(day)]
    noon = " ".join(["0", "12", *spec.text.split()[2:]])
    start, end = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (days[0], days[-1]))
    schedule = cron(noon, extended=True)
    due = [moment.date() for moment in _forward(schedule, start, end + timedelta(hours=23))]
    assert due == expected
    due = [moment.date() for moment in _backward(schedule, start, end + timedelta(hours=23))]
    assert due == expected[::-1]


@_many
@given(specs(extended=True, seconds=False), st.integers(0, 23), st.integers(0, 59), places(), gaps, folds)
def test_a_fixed_time_agrees_with_zoneinfo_day_by_day(
    spec: Spec, hour: int, minute: int, place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-DST: days apart and across several changes of the clock, found without looking at every minute."""
    tz, start = place
    text = " ".join([str(minute), str(hour), *spec.text.split()[2:]])
    expected = fixed_time_between(spec, hour, minute, ZoneInfo(tz), start, 300, gap, fold)
    schedule = cron(text, tz, extended=True, gap=gap, fold=fold)
    _agrees(schedule, expected, start, start + timedelta(days=300))


@_many
@given(st.sets(st.integers(0, 59), min_size=1, max_size=4), places(), gaps, folds)
def test_hourly_is_due_at_its_minutes_of_every_local_hour(
    minutes: set[int], place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-MINUTE: hourly is due at the same instants as the cron text that lists its minutes."""
    tz, start = place
    end = start + timedelta(hours=40)
    listed = ",".join(map(str, minutes))
    _agrees(
        hourly(*minutes, tz=tz, gap=gap, fold=fold),
        list(_forward(cron(f"{listed} * * * *", tz, gap=gap, fold=fold), start, end)),
        start,
        end,
    )


@_many
@given(st.integers(0, 23), st.integers(0, 59), places(), gaps, folds)
def test_daily_is_due_at_its_local_time(
    hour: int, minute: int, place: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    """S-MINUTE: daily is due at the same instants as the cron text of its hour and minute."""
    tz, start = place
    end = start + timedelta(days=3)
    _agrees(
        daily(hour, minute, tz=tz, gap=gap, fold=fold),
        list(_forward(cron(f"{minute} {hour} * * *", tz, gap=gap, fold=fold), start, end)),
        start,
        end,
    )
