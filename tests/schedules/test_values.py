"""Schedules as values."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from typing import Any

import pytest

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.hourly import hourly

SCHEDULES = [
    cron("*/15 9-17 * * MON-FRI"),
    cron("0 9 * * *", "Europe/Berlin"),
    cron("0 9 * * *", "Europe/Berlin", gap="after"),
    cron("0 9 * * *", "Europe/Berlin", fold="first"),
    cron("0 9 LW,3W * 5#2,FRIL", extended=True),
    cron("*/7 0 9 * * *", seconds=True),
    cron("@every 90s"),
    every(days=1, hours=2, minutes=3, seconds=4),
    hourly(0, 15, 30),
    hourly(30, tz="Asia/Kolkata", gap="after", fold="second"),
    daily(3),
    daily(2, 30, tz="Europe/Berlin"),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_schedule_survives_pickling_copying_and_its_own_repr(schedule: Schedule) -> None:
    """S-VALUE: schedules survive pickling and have a readable repr."""
    names = {"cron": cron, "every": every, "hourly": hourly, "daily": daily}
    moment = datetime(2027, 3, 28, 0, 30, tzinfo=UTC)
    for twin in (
        *(pickle.loads(pickle.dumps(schedule, protocol)) for protocol in range(2, 6)),
        copy.deepcopy(schedule),
        eval(repr(schedule), names),
    ):
        assert twin == schedule
        assert hash(twin) == hash(schedule)
        assert repr(twin) == repr(schedule)
        assert twin.next_after(moment) == schedule.next_after(moment)


def test_schedules_that_differ_in_one_setting_differ() -> None:
    """S-VALUE: equal settings are equal, others are not."""
    assert len(set(SCHEDULES)) == len(SCHEDULES)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_schedule_cannot_be_changed(schedule: Schedule) -> None:
    """S-VALUE: schedules are frozen."""
    for name in ("text", "period", "wall", "at_minutes"):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(schedule, name, 5)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_naive_datetime_is_refused(schedule: Schedule) -> None:
    """S-NEXT: instants are timezone-aware; a naive datetime is an error."""
    for moment in (datetime(2026, 5, 5), datetime(2026, 5, 5).date(), None, 1_777_777_777):  # noqa: DTZ001
        for ask in (schedule.next_after, schedule.previous_before, schedule.matches):
            with pytest.raises(InvalidSchedule):
                ask(moment)  # type: ignore[arg-type]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_an_answer_is_in_utc_and_strictly_later_or_earlier(schedule: Schedule) -> None:
    """S-KEY: an answer is an instant in UTC, whatever zone it was asked in."""
    moment = datetime(2026, 7, 7, 7, 7, tzinfo=UTC)
    due = schedule.next_after(moment)
    assert due is not None
    assert due.tzinfo is UTC
    assert due.microsecond == 0
    following = schedule.next_after(due)
    assert following is not None
    assert following > due
    assert schedule.next_after(due - timedelta(microseconds=1)) == due
    assert schedule.previous_before(following) == due
    assert schedule.previous_before(due + timedelta(microseconds=1)) == due
    assert schedule.matches(due)
    assert not schedule.matches(due + timedelta(microseconds=1))


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_there_is_nothing_past_the_first_and_the_last_year(schedule: Schedule) -> None:
    """S-NEXT: past year 9999 the answer is None."""
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert schedule.next_after(last) is None
    assert schedule.previous_before(first) is None
    assert (schedule.previous_before(last) or first).year == 9999
    assert (schedule.next_after(first) or last).year == 1


def test_a_schedule_satisfies_the_contract() -> None:
    assert all(isinstance(schedule, Schedule) for schedule in SCHEDULES)


class _Words(str, Enum):  # noqa: UP042 - not a StrEnum: its str() is another text
    ROME = "Europe/Rome"
    AFTER = "after"
    FIRST = "first"
    DAILY = "CRON_TZ=Europe/Rome 0 0 * * *"


class _Numbers(IntEnum):
    FIVE = 5


class _Unusual(float):
    """Writes itself as numpy's numbers do."""

    def __repr__(self) -> str:
        return "unusual(1.5)"


def test_subclasses_of_texts_and_numbers_leave_no_trace() -> None:
    """S-VALUE: a schedule built from an enum's members is the plain one, in repr and pickle too."""
    settings: list[tuple[Any, ...]] = [
        (_Words.ROME, _Words.AFTER, _Words.FIRST),
        ("Europe/Rome", "after", "first"),
    ]
    for tz, gap, fold in settings:
        schedule = daily(_Numbers.FIVE, tz=tz, gap=gap, fold=fold)
        assert repr(schedule) == "daily(5, 0, tz='Europe/Rome', gap='after', fold='first')"
        assert b"_Words" not in pickle.dumps(schedule)
    assert repr(cron(_Words.DAILY)) == "cron('0 0 * * *', tz='Europe/Rome')"
    assert repr(every(_Numbers.FIVE)) == "every(seconds=5)"
    assert every(minutes=_Unusual(1.5)) == every(90)


class _Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("given", [_Unshowable(), 10**5000, "x" * 1_000_000], ids=["repr", "digits", "text"])
def test_what_cannot_be_shown_is_refused_all_the_same(given: Any) -> None:
    """S-VALUE: a wrong schedule is an InvalidSchedule at construction, never another error."""
    for make in (cron, every, hourly, daily, lambda tz: daily(3, tz=tz), lambda gap: daily(3, gap=gap)):
        with pytest.raises(InvalidSchedule) as caught:
            make(given)
        assert len(str(caught.value)) < 1500
