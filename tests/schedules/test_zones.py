"""Zones by name, this machine's zone, and the wall clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest

from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.hourly import hourly
from onebeat.schedules.local import is_local_time

_AT = datetime(2026, 7, 1, 7, 30, 59, tzinfo=UTC)
_NO_ZONES: list[Any] = [
    *("", "Nowhere/City", "Europe", "europe berlin", "/etc/localtime", "../Europe/Berlin", "Europe/../UTC"),
    *("localtime", "posixrules", "posix/UTC", "right/UTC", "Factory", "zone.tab", "UTC+2", "+02:00", "Local"),
    *("Europe/Berlin\n", "Europe/Berlin\x00", "x" * 300, "Zür/ich", "EST5EDT,M3.2.0,M11.1.0"),
    *(None, 0, UTC, ZoneInfo("UTC"), b"UTC", ["UTC"]),
]


@pytest.mark.parametrize("tz", _NO_ZONES, ids=repr)
@pytest.mark.parametrize(
    "build",
    [
        lambda tz: cron("0 0 * * *", tz),
        lambda tz: cron("@every 5m", tz),
        lambda tz: hourly(0, tz=tz),
        lambda tz: daily(0, tz=tz),
        lambda tz: is_local_time(tz, 0, at=_AT),
    ],
    ids=["cron", "@every", "hourly", "daily", "is_local_time"],
)
def test_an_unknown_zone_is_an_error_at_construction(build: Callable[[Any], object], tz: Any) -> None:
    """S-ZONE: an unknown zone is an error at construction, not at 02:30."""
    with pytest.raises(InvalidSchedule):
        build(tz)


def test_the_default_zone_is_utc() -> None:
    """S-ZONE: the default zone is UTC, whatever the process's zone."""
    midnight = datetime(2026, 7, 2, tzinfo=UTC)
    for schedule in (cron("0 0 * * *"), daily(0)):
        assert schedule.next_after(_AT) == midnight


def test_the_zone_of_the_process_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """S-ZONE: nothing depends on the process's TZ but tz="local", which takes its name."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    local = daily(9, tz="local")
    assert repr(local) == "daily(9, 0, tz='Asia/Kathmandu')"
    assert local == daily(9, tz="Asia/Kathmandu")
    assert is_local_time("local", 13, 15, at=_AT)
    assert daily(9) == daily(9, tz="UTC")
    assert cron("0 9 * * *", "local") == cron("TZ=Asia/Kathmandu 0 9 * * *")


def test_a_local_zone_without_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """S-ZONE: where this machine's zone has no name, one has to be given."""
    monkeypatch.setattr("onebeat.schedules.local.local_zone_name", lambda: None)
    with pytest.raises(InvalidSchedule, match="name a zone"):
        daily(9, tz="local")


def test_a_zone_in_front_of_the_text_goes_before_the_argument() -> None:
    """S-CRON: CRON_TZ= and TZ= name the zone of the text."""
    assert cron("CRON_TZ=Asia/Tokyo 0 9 * * *", "Europe/Berlin") == cron("0 9 * * *", "Asia/Tokyo")


@pytest.mark.parametrize("tz", sorted(available_timezones() - {"localtime", "Factory"}))
def test_next_after_ends_in_every_zone(tz: str) -> None:
    """S-NEXT: a daily time is found in every zone since 1970, on the right wall time, about once a day."""
    schedule, zone = daily(0, 30, tz=tz), ZoneInfo(tz)
    for year in range(1970, 2040, 7):
        due = schedule.next_after(datetime(year, 3, 1, tzinfo=UTC))
        assert due is not None
        for _ in range(5):
            wall = due.astimezone(zone)
            assert (wall.hour, wall.minute, wall.second) == (0, 30, 0)
            following = schedule.next_after(due)
            assert following is not None
            assert timedelta(hours=0) < following - due <= timedelta(hours=49)
            assert schedule.previous_before(following) == due
            due = following


@pytest.mark.parametrize("policy", ["", "SKIP", "before", None, 1])
def test_an_unknown_policy_is_refused(policy: Any) -> None:
    """S-DST: the policies are named, per schedule."""
    for build in (
        lambda: cron("0 0 * * *", gap=policy),
        lambda: daily(0, fold=policy),
        lambda: hourly(0, gap=policy),
    ):
        with pytest.raises(InvalidSchedule):
            build()


def test_gap_and_repeat_follow_the_policy() -> None:
    """S-DST: skip or after; both, first or second."""
    spring = datetime(2027, 3, 27, 12, tzinfo=UTC)
    assert daily(2, 30, tz="Europe/Berlin").next_after(spring) == datetime(2027, 3, 29, 0, 30, tzinfo=UTC)
    after = daily(2, 30, tz="Europe/Berlin", gap="after")
    assert after.next_after(spring) == datetime(2027, 3, 28, 1, 0, tzinfo=UTC)
    autumn = datetime(2027, 10, 30, 12, tzinfo=UTC)
    first, second = datetime(2027, 10, 31, 0, 30, tzinfo=UTC), datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    assert daily(2, 30, tz="Europe/Berlin").next_after(autumn) == first
    assert daily(2, 30, tz="Europe/Berlin").next_after(first) == second
    assert daily(2, 30, tz="Europe/Berlin", fold="first").next_after(first) == datetime(
        2027, 11, 1, 1, 30, tzinfo=UTC
    )
    assert daily(2, 30, tz="Europe/Berlin", fold="second").next_after(autumn) == second


def test_a_weekly_time_is_found_across_a_repeat_in_both_directions() -> None:
    """S-DST, S-NEXT: inside a repeated hour, the other instant of a wall time is not passed over."""
    weekly = cron("30 2 * * 0", "Europe/Berlin")
    first, second = datetime(2027, 10, 31, 0, 30, tzinfo=UTC), datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    assert weekly.next_after(first + timedelta(minutes=15)) == second
    assert weekly.previous_before(second - timedelta(minutes=15)) == first


def test_a_day_that_a_zone_left_out_is_not_due() -> None:
    """S-DST: Apia had no 30 December 2011; a whole day skipped obeys the same sentence."""
    schedule = cron("0 9 30 12 *", "Pacific/Apia")
    assert schedule.next_after(datetime(2011, 1, 1, tzinfo=UTC)) == datetime(2012, 12, 29, 19, tzinfo=UTC)
    after = cron("0 9 30 12 *", "Pacific/Apia", gap="after")
    assert after.next_after(datetime(2011, 1, 1, tzinfo=UTC)) == datetime(2011, 12, 30, 10, tzinfo=UTC)


def test_is_local_time_tells_exactly_that_minute() -> None:
    """S-LOCAL: whether the wall clock in that zone reads exactly that minute."""
    assert is_local_time("Europe/Berlin", 9, 30, at=_AT)
    assert not is_local_time("Europe/Berlin", 9, 31, at=_AT)
    assert not is_local_time("Europe/Berlin", 9, at=_AT)
    assert not is_local_time("UTC", 9, 30, at=_AT)
    assert is_local_time("Asia/Kolkata", 13, at=_AT)
    assert sum(is_local_time("UTC", hour, minute) for hour in range(24) for minute in range(60)) <= 2


@pytest.mark.parametrize(
    "arguments",
    [(24, 0, _AT), (0, 60, _AT), (True, 0, _AT), (0, 0, datetime(2026, 1, 1)), (0, 0, 5)],  # noqa: DTZ001
)
def test_is_local_time_refuses_nonsense(arguments: tuple[Any, ...]) -> None:
    """S-LOCAL: hours 0–23, minutes 0–59, an aware instant."""
    with pytest.raises(InvalidSchedule):
        is_local_time("UTC", *arguments)
