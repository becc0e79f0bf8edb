"""Debian cron's rule for changes of the clock, against a cron that is walked through every minute."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings

from onebeat import Scheduler
from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import Cron, cron
from onebeat.schedules.daily import daily
from onebeat.schedules.dues import due_between
from onebeat.schedules.hourly import hourly
from tests.schedules.expressions import places, specs
from tests.schedules.oracle import Spec

_MINUTE, _TICK = timedelta(minutes=1), timedelta(microseconds=1)
_BERLIN = "Europe/Berlin"


def _walked(spec: Spec, zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """The minutes in [start, end] in which such a cron, up for two days by then, starts the job.

    It keeps a virtual clock that never goes back. Ahead of it by more than a minute, it goes through what
    was missed for fixed jobs; behind it, fixed jobs wait until the wall has caught up.
    """
    wild = spec.minutes[0].text[0] in "*?" or spec.hours[0].text[0] in "*?"
    instant = start - timedelta(days=2)
    virtual = (instant - _MINUTE).astimezone(zone).replace(tzinfo=None)
    while instant <= end:
        wall = instant.astimezone(zone).replace(tzinfo=None)
        fires = wild and spec.at(wall)
        while virtual < wall:
            virtual += _MINUTE
            fires |= not wild and spec.at(virtual)
        if fires and instant >= start:
            yield instant
        instant += _MINUTE


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs(extended=True, seconds=False), places())
def test_vixie_agrees_with_a_cron_walked_through_every_minute(
    spec: Spec, place: tuple[str, datetime]
) -> None:
    """S-DST: policy="vixie" is Debian cron's rule, for half-hour, midnight and whole-day shifts too."""
    tz, start = place
    end = start + timedelta(hours=40)
    schedule = cron(spec.text, tz, extended=True, policy="vixie")
    expected = list(_walked(spec, ZoneInfo(tz), start, end))
    assert list(due_between(schedule, start - _TICK, end)) == expected
    assert all(schedule.matches(due) for due in expected)


def test_a_fixed_time_runs_once_and_a_wildcard_follows_the_wall() -> None:
    """S-DST: a fixed time in a gap runs once right after it, in a repeat once."""
    spring, after_gap = datetime(2027, 3, 27, 12, tzinfo=UTC), datetime(2027, 3, 28, 1, tzinfo=UTC)
    first = datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    fixed = cron("30 2 * * *", _BERLIN, policy="vixie")
    assert fixed.next_after(spring) == after_gap
    assert fixed.next_after(first) == datetime(2027, 11, 1, 1, 30, tzinfo=UTC)
    for wild in (cron("30 */2 * * *", _BERLIN, policy="vixie"), cron("@hourly", _BERLIN, policy="vixie")):
        assert isinstance(wild, Cron)
        plain = cron(wild.text, _BERLIN)
        assert wild == plain
    assert cron("0 0-23 * * *", _BERLIN, policy="vixie").next_after(first - timedelta(hours=1)) == first - (
        timedelta(minutes=30)
    )


def test_a_day_that_a_zone_left_out_is_made_up_for_as_the_next_begins() -> None:
    """S-DST: a shift of a whole day is a gap like any other."""
    schedule = daily(9, tz="Pacific/Apia", policy="vixie")
    dues = due_between(
        schedule, datetime(2011, 12, 29, 10, tzinfo=UTC), datetime(2011, 12, 31, 9, tzinfo=UTC)
    )
    assert list(dues) == [
        datetime(2011, 12, 29, 19, tzinfo=UTC),
        datetime(2011, 12, 30, 10, tzinfo=UTC),  # midnight of the 31st: for the 30th, which never was
        datetime(2011, 12, 30, 19, tzinfo=UTC),
    ]


def test_the_policy_says_what_gap_and_fold_say() -> None:
    """S-DST: a schedule under the policy is the one that its two settings make."""
    assert daily(2, 30, _BERLIN, policy="vixie") == daily(2, 30, _BERLIN, gap="after", fold="first")
    assert hourly(30, tz=_BERLIN, policy="vixie") == hourly(30, tz=_BERLIN)


@pytest.mark.parametrize("wrong", [{"policy": "cronie"}, {"policy": 3}, {"policy": ""}], ids=repr)
@pytest.mark.parametrize("make", [lambda **said: cron("* * * * *", **said), hourly, daily])
def test_an_unknown_policy_is_refused(make: Any, wrong: dict[str, Any]) -> None:
    """S-DST: the policies are named."""
    with pytest.raises(InvalidSchedule, match="policy"):
        make(*([] if make.__name__ == "<lambda>" else [3]), **wrong)


@pytest.mark.parametrize("beside", [{"gap": "after"}, {"fold": "first"}], ids=repr)
def test_the_policy_stands_alone(beside: dict[str, Any]) -> None:
    """S-DST: policy= takes the place of gap= and fold=."""
    with pytest.raises(InvalidSchedule, match="beside"):
        daily(3, policy="vixie", **beside)


def test_the_decorators_take_the_policy() -> None:
    """J-API: the decorators take every setting of a schedule by keyword."""
    scheduler = Scheduler()
    scheduler.cron("30 2 * * *", tz=_BERLIN, policy="vixie", job_id="cron")(print)
    scheduler.daily(2, 30, tz=_BERLIN, policy="vixie", job_id="daily")(print)
    scheduler.hourly(30, tz=_BERLIN, policy="vixie", job_id="hourly")(print)
    assert [job.schedule for job in scheduler.jobs] == [
        cron("30 2 * * *", _BERLIN, gap="after", fold="first"),
        daily(2, 30, _BERLIN, gap="after", fold="first"),
        hourly(30, tz=_BERLIN),
    ]
