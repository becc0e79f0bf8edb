"""Unions, differences and bounds of schedules, against looking at every minute."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onebeat
from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.closed import dates, weekdays
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.dues import due_between
from onebeat.schedules.every import every
from onebeat.schedules.explain import explain
from onebeat.schedules.fingerprint import digest_of
from onebeat.schedules.hourly import hourly
from tests.schedules.expressions import places, specs

_MINUTE, _TICK = timedelta(minutes=1), timedelta(microseconds=1)
_BERLIN = "Europe/Berlin"
_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NOW = datetime(2026, 11, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Elsewhere:
    """A schedule of another house, which knows no operator."""

    inner: Schedule

    def next_after(self, moment: datetime) -> datetime | None:
        return self.inner.next_after(moment)

    def previous_before(self, moment: datetime) -> datetime | None:
        return self.inner.previous_before(moment)

    def matches(self, moment: datetime) -> bool:
        return self.inner.matches(moment)


@dataclass(frozen=True)
class Case:
    """A schedule, and whether it is due, told apart from how it searches."""

    schedule: Any
    due: Callable[[datetime], bool]


def _leaf(schedule: Schedule) -> Case:
    return Case(schedule, schedule.matches)


def _leaves(tz: str, start: datetime) -> st.SearchStrategy[Case]:
    # Bounded: a search for what an endless schedule has left would go on where nothing is to be proven.
    low, high = start - timedelta(days=4), start + timedelta(days=6)
    zones = st.sampled_from([tz, tz, "UTC", "Asia/Kathmandu"])
    policies = st.sampled_from([{}, {}, {"gap": "after"}, {"fold": "first"}, {"policy": "vixie"}])
    texts = specs(extended=True, seconds=False).map(lambda spec: spec.text)
    plain = st.sampled_from(
        ["* * * * *", "*/5 * * * *", "0 * * * *", "0 */2 * * *", "30 2 * * *", "* 0-3 * * *"]
    )
    crons = st.builds(
        lambda text, zone, policy: cron(text, zone, extended=True, **policy),
        st.one_of(plain, plain, texts),
        zones,
        policies,
    )
    everies = st.sampled_from([1, 7, 15, 60, 90, 1440]).map(lambda minutes: every(minutes=minutes))
    plainly = st.one_of(crons, crons, everies).map(lambda schedule: schedule.between(low, high))
    return st.one_of(plainly, plainly, plainly.map(Elsewhere)).map(_leaf)


@st.composite
def _cases(draw: st.DrawFn, tz: str, start: datetime, depth: int = 3) -> Case:
    """An expression over some leaves."""
    kind = draw(st.sampled_from(["leaf", "or", "minus", "minus", "dates", "weekdays", "until", "between"]))
    if kind == "leaf" or depth == 0:
        return draw(_leaves(tz, start))
    one = draw(_cases(tz, start, depth - 1))
    schedule = one.schedule
    instants = st.integers(-20, 60 * 60).map(lambda minutes: start + minutes * _MINUTE)
    if kind in ("or", "minus"):
        other = draw(_cases(tz, start, depth - 1))
        if isinstance(schedule, Elsewhere) and isinstance(other.schedule, Elsewhere):
            return one
        if kind == "or":
            return Case(schedule | other.schedule, lambda at: one.due(at) or other.due(at))
        return Case(schedule - other.schedule, lambda at: one.due(at) and not other.due(at))
    if kind == "dates":
        first = start.date()
        days = draw(st.sets(st.integers(-2, 4).map(lambda n: first + timedelta(days=n)), min_size=1))
        return Case(schedule - dates(*days, tz=tz), lambda at: one.due(at) and _day(at, tz) not in days)
    if kind == "weekdays":
        numbers = draw(st.sets(st.integers(0, 6), min_size=1, max_size=6))
        closed = weekdays(*(_NAMES[number] for number in numbers), tz=tz)
        return Case(
            schedule - closed, lambda at: one.due(at) and _day(at, tz).isoweekday() % 7 not in numbers
        )
    if isinstance(schedule, Elsewhere):
        return one
    low, high = sorted((draw(instants), draw(instants)))
    high += _MINUTE
    if kind == "until":
        return Case(schedule.until(high), lambda at: one.due(at) and at < high)
    return Case(schedule.between(low, high), lambda at: one.due(at) and low <= at < high)


def _day(at: datetime, tz: str) -> date:
    return at.astimezone(ZoneInfo(tz)).date()


def _backward(schedule: Schedule, start: datetime, end: datetime) -> Iterator[datetime]:
    due = schedule.previous_before(end + _TICK)
    while due is not None and due >= start:
        yield due
        due = schedule.previous_before(due)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), places())
def test_combinations_agree_with_looking_at_every_minute(
    data: st.DataObject, place: tuple[str, datetime]
) -> None:
    """S-MORE: unions, differences and bounds are exact in both directions, across changes of the clock."""
    tz, start = place
    case = data.draw(_cases(tz, start))
    end = start + timedelta(hours=26)
    minutes = (start + n * _MINUTE for n in range(26 * 60 + 1))
    expected = [minute for minute in minutes if case.due(minute)]
    assert list(due_between(case.schedule, start - _TICK, end)) == expected
    assert list(_backward(case.schedule, start, end)) == expected[::-1]
    assert [minute for minute in expected if not case.schedule.matches(minute)] == []
    assert not any(case.schedule.matches(due + _TICK) for due in expected[:5])


SCHEDULES = [
    daily(9) | daily(17, tz=_BERLIN),
    daily(9) | "@hourly" | every(minutes=7),
    daily(9, tz=_BERLIN) - dates("2026-12-25", "2026-12-26", tz=_BERLIN),
    hourly(0, 30) - weekdays("sat", "sun"),
    hourly(0) - weekdays("sun") - dates("2026-12-24") - cron("0 12 * * *"),
    (daily(9) | daily(10)) - weekdays("fri", tz=_BERLIN),
    hourly(0) - (daily(9) - weekdays("mon")),
    daily(9).until(datetime(9990, 1, 1, tzinfo=UTC)),
    (daily(9) | hourly(30)).between(datetime(2000, 1, 1, tzinfo=UTC), datetime(9990, 1, 1, tzinfo=UTC)),
    daily(9).until(datetime(9990, 1, 1, tzinfo=UTC)) | daily(7),
    Elsewhere(daily(3)) | daily(4),
    Elsewhere(hourly(0)) - daily(3),
    daily(3) - Elsewhere(daily(4)),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_combination_is_a_value(schedule: Schedule) -> None:
    """S-VALUE: frozen, hashable, picklable, with a repr that is the expression."""
    ours = {name: getattr(onebeat, name) for name in onebeat.__all__}
    names = {**ours, "datetime": __import__("datetime"), "Elsewhere": Elsewhere}
    twins = (
        *(pickle.loads(pickle.dumps(schedule, protocol)) for protocol in range(2, 6)),
        copy.deepcopy(schedule),
        eval(repr(schedule), names),
    )
    for twin in twins:
        assert twin == schedule
        assert hash(twin) == hash(schedule)
        assert repr(twin) == repr(schedule)
        assert digest_of(twin) == digest_of(schedule)
    for name in ("parts", "schedule", "anything"):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(schedule, name, 5)
    for ask in (schedule.next_after, schedule.previous_before, schedule.matches):
        with pytest.raises(InvalidSchedule):
            ask(datetime(2026, 5, 5))  # noqa: DTZ001
    last, first = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)
    assert schedule.next_after(last) is None
    assert schedule.previous_before(first) is None


def test_combinations_that_differ_differ() -> None:
    """S-VALUE, F-DRIFT: other parts, bounds or days make another schedule, with another digest."""
    assert len(set(SCHEDULES)) == len(SCHEDULES)
    bounds = [hourly(0).until(_NOW), hourly(0).until(_NOW + _MINUTE)]
    closed = [hourly(0) - dates("2026-12-25", tz=tz) for tz in ("UTC", _BERLIN)]
    assert len(set(map(digest_of, [*SCHEDULES, *bounds, *closed]))) == len(SCHEDULES) + 4


NOTHING_LEFT = [
    daily(9) - daily(9),
    daily(9, tz=_BERLIN) - hourly(0, tz=_BERLIN),
    daily(9) - hourly(0, tz=_BERLIN),
    cron("* * * * * *", seconds=True) - every(1),
    every(1) - cron("* * * * * *", tz=_BERLIN, seconds=True),
    every(14) - every(7),
    every(minutes=90) - hourly(0, 30, tz="Asia/Kolkata"),
    cron("0 9 * * SAT", _BERLIN) - weekdays("sat", tz=_BERLIN),
    cron("* * * * SAT,SUN") - weekdays("sat") - weekdays("sun"),
    (daily(9) | every(minutes=30)) - cron("*/15 * * * *"),
    cron("* * * * *", _BERLIN) - (cron("* * * 1-6 *", _BERLIN) | cron("* * * 7-12 *", _BERLIN)),
    cron("* * 29 2 SUN#5", extended=True) - cron("* * * 2 *"),
    daily(9).until(_NOW),
    daily(9).between(_NOW + timedelta(hours=10), _NOW + timedelta(hours=20)),
    daily(9) - Elsewhere(hourly(0)),
]


@pytest.mark.parametrize("schedule", NOTHING_LEFT, ids=repr)
def test_a_schedule_that_excludes_itself_answers_none(schedule: Schedule) -> None:
    """S-NEXT, S-MORE: the search passes over whole days, and over all calendars, and ends."""
    assert schedule.next_after(_NOW) is None


def test_months_of_excluded_minutes_are_passed_over_in_days() -> None:
    """S-MORE: what is excluded is passed over in stretches, however long."""
    autumn = every(minutes=1) - cron("* * * 1-9 *", _BERLIN)
    assert autumn.next_after(datetime(2027, 1, 5, tzinfo=UTC)) == datetime(2027, 9, 30, 22, tzinfo=UTC)
    assert autumn.previous_before(datetime(2027, 9, 5, tzinfo=UTC)) == datetime(
        2026, 12, 31, 22, 59, tzinfo=UTC
    )
    half_hour_off = cron("* * * * *", "Asia/Kathmandu") - cron("* * * 1-9 *", _BERLIN)
    assert half_hour_off.next_after(datetime(2027, 1, 5, tzinfo=UTC)) == datetime(2027, 9, 30, 22, tzinfo=UTC)


def test_days_begin_and_end_by_the_zone_of_the_exclusion() -> None:
    """S-MORE: dates and weekdays are local days, those with a change of the clock included."""
    spring = every(minutes=30) - dates("2027-03-28", tz=_BERLIN)
    assert spring.next_after(datetime(2027, 3, 27, 22, 30, tzinfo=UTC)) == datetime(
        2027, 3, 28, 22, tzinfo=UTC
    )
    autumn = every(minutes=30) - weekdays("sun", tz=_BERLIN)
    assert autumn.next_after(datetime(2027, 10, 30, 21, 30, tzinfo=UTC)) == datetime(
        2027, 10, 31, 23, tzinfo=UTC
    )


def test_bounds_hold_their_start_and_not_their_end() -> None:
    """S-MORE: [start, end), so that pieces laid end to end neither overlap nor leave a hole."""
    nine, ten = _NOW + timedelta(hours=9), _NOW + timedelta(hours=10)
    assert hourly(0).between(nine, ten).matches(nine)
    assert not hourly(0).between(nine, ten).matches(ten)
    assert list(due_between(hourly(0).between(nine, ten), _NOW, ten)) == [nine]
    assert hourly(0).until(ten).previous_before(ten + _MINUTE) == nine
    assert hourly(0).until(ten).next_after(nine) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: daily(3).until(datetime(2026, 1, 1)),  # noqa: DTZ001
        lambda: daily(3).until("2026-01-01"),  # type: ignore[arg-type]
        lambda: daily(3).between(_NOW, _NOW),
        lambda: daily(3).between(_NOW, _NOW - _MINUTE),
        lambda: daily(3) | "99 * * * *",
        dates,
        lambda: dates("2026-02-30"),
        lambda: dates("2026-W01-1"),
        lambda: dates(_NOW),
        lambda: dates(20261225),  # type: ignore[arg-type]
        lambda: dates("2026-12-25", tz="Mars/Olympus"),
        weekdays,
        lambda: weekdays("saturday"),
        lambda: weekdays(6),  # type: ignore[arg-type]
        lambda: weekdays(*_NAMES),
    ],
)
def test_nonsense_is_refused_when_it_is_made(make: Callable[[], object]) -> None:
    """S-VALUE: a wrong one is an error at construction."""
    with pytest.raises(InvalidSchedule):
        make()


@pytest.mark.parametrize(
    "operand", [5, None, daily, dates("2026-12-25")], ids=["number", "nothing", "function", "dates"]
)
def test_only_schedules_are_combined(operand: Any) -> None:
    """S-VALUE: what is no schedule is no operand, and days are only taken away."""
    with pytest.raises(TypeError):
        daily(3) | operand
    with pytest.raises(TypeError):
        operand | daily(3)
    with pytest.raises(TypeError):
        operand - daily(3)


def test_a_text_or_a_schedule_of_another_house_may_stand_on_the_left() -> None:
    """S-MORE: schedules written by users take part."""
    assert "@daily" | daily(3) == cron("@daily") | daily(3)
    assert "@hourly" - daily(3) == cron("@hourly") - daily(3)
    assert (Elsewhere(daily(3)) | daily(4)).next_after(_NOW) == _NOW + timedelta(hours=3)
    assert (Elsewhere(hourly(0)) - daily(1)).next_after(_NOW) == _NOW + timedelta(hours=2)
    holiday = Elsewhere(hourly(0)) - dates("2026-11-30")
    assert holiday.next_after(_NOW) == _NOW + timedelta(days=1)


def test_a_combination_is_explained() -> None:
    """S-MORE: explain says it in words, with the warnings of all its parts."""
    schedule = (daily(2, 30, tz=_BERLIN) | every(hours=6)) - dates("2026-12-25", tz=_BERLIN) - weekdays("sun")
    told = explain(schedule, after=datetime(2026, 12, 24, 23, tzinfo=UTC), count=1)
    assert told.sentence == (
        "At 02:30 every day, Europe/Berlin; or Every 6 hours, counted from 1970-01-01 00:00 UTC; "
        "but not on 2026-12-25, Europe/Berlin nor on Sunday, UTC."
    )
    assert told.instants == (datetime(2026, 12, 26, tzinfo=UTC),)
    assert told.warnings[0].startswith("02:30 does not exist on 2027-03-28")
    bounded = explain(daily(9).between(_NOW, _NOW + timedelta(days=1)), after=_NOW)
    assert (
        bounded.sentence == "At 09:00 every day, UTC; from 2026-11-30 00:00 UTC until 2026-12-01 00:00 UTC."
    )
    assert len(bounded.instants) == 1
    assert explain(hourly(0) - daily(9), after=_NOW).sentence == (
        'At minute 0 of every hour, UTC; but not when "At 09:00 every day, UTC".'
    )
