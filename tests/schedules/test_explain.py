"""What a schedule means, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.explain import describe, explain
from onebeat.schedules.hourly import hourly

_NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (cron("* * * * *"), "Every minute, UTC."),
        (cron("*/15 * * * *"), "Every 15 minutes, UTC."),
        (cron("@hourly"), "At minute 0 of every hour, UTC."),
        (cron("0 9 * * 1-5", "Europe/Berlin"), "At 09:00 on Monday to Friday, Europe/Berlin."),
        (cron("0 9,17 1,15 * 1"), "At 09:00 and 17:00 on days 1 and 15 of the month or on Monday, UTC."),
        (cron("*/10 9-17 * * *"), "Every 10 minutes of hours 9 to 17, UTC."),
        (cron("7,9,40 1-10 * * *"), "At minutes 7, 9 and 40 of hours 1 to 10 every day, UTC."),
        (cron("0 0 * jan,mar-may *"), "At 00:00 every day in January and March to May, UTC."),
        (cron("* 3 * * *"), "Every minute of hour 3, UTC."),
        (
            cron("0 0 L * 5#2", extended=True),
            "At 00:00 on the last day of the month or on the 2nd Friday, UTC.",
        ),
        (cron("0 0 * * 7L", extended=True), "At 00:00 on the last Sunday, UTC."),
        (
            cron("0 0 15W * *", extended=True),
            "At 00:00 on the Monday to Friday nearest to day 15 of the month, UTC.",
        ),
        (
            cron("0 0 L-2W * *", extended=True),
            "At 00:00 on the Monday to Friday nearest to 2 days before the last day of the month, UTC.",
        ),
        (cron("* * * * * *", seconds=True), "Every second, UTC."),
        (cron("*/10 * * * * *", seconds=True), "Every 10 seconds, UTC."),
        (cron("* 5 * * * *", seconds=True), "Every second of minute 5 of every hour, UTC."),
        (cron("5 5 5 * * *", seconds=True), "At second 5 of 05:05 every day, UTC."),
        (cron("30 */15 * * * *", seconds=True), "At second 30, every 15 minutes, UTC."),
        (every(hours=1), "Every hour, counted from 1970-01-01 00:00 UTC."),
        (every(90), "Every 1 minute and 30 seconds, counted from 1970-01-01 00:00 UTC."),
        (hourly(0, 20, tz="Asia/Kolkata"), "At minutes 0 and 20 of every hour, Asia/Kolkata."),
        (daily(3, 5), "At 03:05 every day, UTC."),
    ],
    ids=lambda given: given if isinstance(given, str) else repr(given),
)
def test_a_schedule_is_told_in_one_sentence(schedule: Schedule, sentence: str) -> None:
    assert describe(schedule) == sentence


@pytest.mark.parametrize(
    ("schedule", "warnings"),
    [
        (
            daily(2, 30, tz="Europe/Berlin"),
            (
                "02:30 does not exist on 2027-03-28 in Europe/Berlin; skipped",
                "02:30 occurs twice on 2027-10-31 in Europe/Berlin; due at both",
            ),
        ),
        (
            daily(2, 30, tz="Europe/Berlin", gap="after", fold="second"),
            (
                "02:30 does not exist on 2027-03-28 in Europe/Berlin; due at 03:00 instead",
                "02:30 occurs twice on 2027-10-31 in Europe/Berlin; due at the second",
            ),
        ),
        (
            cron("*/20 2 * * *", "Europe/Berlin", fold="first"),
            (
                "02:00, 02:20 and 02:40 do not exist on 2027-03-28 in Europe/Berlin; skipped",
                "02:00, 02:20 and 02:40 occur twice on 2027-10-31 in Europe/Berlin; due at the first",
            ),
        ),
        (
            cron("* * * * *", "America/New_York"),
            (
                "60 times from 02:00 to 02:59 do not exist on 2027-03-14 in America/New_York; skipped",
                "60 times from 01:00 to 01:59 occur twice on 2027-11-07 in America/New_York; due at both",
            ),
        ),
        (daily(9, tz="Europe/Berlin"), ()),
        (daily(2, 30), ()),
        (every(hours=1), ()),
    ],
    ids=repr,
)
def test_changes_of_the_clock_are_warned_of(schedule: Schedule, warnings: tuple[str, ...]) -> None:
    """S-DST: a wall time that does not exist is not due, one that occurs twice is due at both; it is said."""
    assert explain(schedule, after=_NEW_YEAR).warnings == warnings


def test_a_day_left_out_is_warned_of() -> None:
    """S-DST: a whole day skipped obeys the same sentence."""
    told = explain("0 9 * * *", tz="Pacific/Apia", after=datetime(2011, 12, 1, tzinfo=UTC))
    assert "09:00 does not exist on 2011-12-30 in Pacific/Apia; skipped" in told.warnings


def test_the_next_instants_are_listed_in_order() -> None:
    told = explain("@every 6h", after=_NEW_YEAR, count=3)
    assert told.instants == tuple(_NEW_YEAR + timedelta(hours=6 * n) for n in (1, 2, 3))
    assert explain("0 0 31 2 *", after=_NEW_YEAR).instants == ()
    assert explain("@daily", after=_NEW_YEAR, count=0).instants == ()
    assert len(explain("@daily").instants) == 5


def test_a_schedule_written_elsewhere_is_explained_by_its_repr() -> None:
    class Once:
        def next_after(self, moment: datetime) -> datetime | None:
            return _NEW_YEAR if moment < _NEW_YEAR else None

        def previous_before(self, moment: datetime) -> datetime | None:
            return None

        def matches(self, moment: datetime) -> bool:
            return moment == _NEW_YEAR

        def __repr__(self) -> str:
            return "Once()"

    told = explain(Once(), after=_NEW_YEAR - timedelta(days=1))
    assert (told.sentence, told.instants, told.warnings) == ("Once()", (_NEW_YEAR,), ())


@pytest.mark.parametrize("count", [-1, 1.5, True, None, 10**9])
def test_explain_refuses_a_count_that_is_none(count: int) -> None:
    with pytest.raises(InvalidSchedule):
        explain("@daily", after=_NEW_YEAR, count=count)


def test_explain_refuses_a_naive_instant() -> None:
    """S-NEXT: a naive datetime is an error, which names the argument."""
    with pytest.raises(InvalidSchedule, match="after: "):
        explain("@daily", after=datetime(2027, 1, 1))  # noqa: DTZ001
