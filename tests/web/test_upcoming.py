"""What comes next of a job, and the days on which clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from onebeat.schedules.every import every
from onebeat.schedules.parse import parse
from onebeat.web.views.upcoming import COUNT, clock_changes, upcoming, zones_of

UTC_ZONE = ZoneInfo("UTC")
NIGHTLY = parse("30 2 * * *", tz="Europe/Berlin")
AUTUMN = datetime(2027, 10, 28, tzinfo=UTC)


def test_the_next_instants_say_what_the_schedules_clocks_read() -> None:
    ahead = upcoming(NIGHTLY, AUTUMN, UTC_ZONE, None)
    assert ahead.zones == ("Europe/Berlin",)
    assert len(ahead.coming) == COUNT
    assert ahead.coming[0].at == datetime(2027, 10, 28, 0, 30, tzinfo=UTC)
    assert ahead.coming[0].walls == ("Thu 2027-10-28 02:30:00 CEST",)


def test_days_on_which_clocks_change_are_marked_and_no_others() -> None:
    """S-DST: here a wall time that comes twice, and is due twice."""
    marked = [each for each in upcoming(NIGHTLY, AUTUMN, UTC_ZONE, None).coming if each.changes]
    assert [each.walls for each in marked] == [
        ("Sun 2027-10-31 02:30:00 CEST",),
        ("Sun 2027-10-31 02:30:00 CET",),
    ]
    assert marked[0].changes == ("clocks in Europe/Berlin go back 1 h, from 03:00 to 02:00",)


def test_a_schedule_of_several_zones_shows_all_their_clocks() -> None:
    both = NIGHTLY | parse("0 9 * * *", tz="America/New_York")
    ahead = upcoming(both, AUTUMN, UTC_ZONE, None)
    assert ahead.zones == zones_of(both) == ("Europe/Berlin", "America/New_York")
    assert all(len(each.walls) == 2 for each in ahead.coming)


def test_a_schedule_that_goes_by_no_wall_clock_is_shown_in_the_pages_zone() -> None:
    ahead = upcoming(every(hours=6), AUTUMN, ZoneInfo("Europe/Berlin"), None)
    assert zones_of(every(hours=6)) == ()
    assert ahead.zones == ("Europe/Berlin",)
    assert any(each.changes for each in ahead.coming)


def test_instants_that_a_known_pause_covers_are_marked() -> None:
    until = AUTUMN + timedelta(days=2)
    paused = [each.at for each in upcoming(NIGHTLY, AUTUMN, UTC_ZONE, until).coming if each.paused]
    assert paused == [datetime(2027, 10, day, 0, 30, tzinfo=UTC) for day in (28, 29)]


def test_a_schedule_that_ends_has_fewer_instants() -> None:
    """S-NEXT: and one that is never due has none."""
    ending = NIGHTLY.until(AUTUMN + timedelta(days=2))
    assert len(upcoming(ending, AUTUMN, UTC_ZONE, None).coming) == 2
    assert upcoming(parse("0 0 31 2 *"), AUTUMN, UTC_ZONE, None).coming == ()


@pytest.mark.parametrize(
    ("day", "zone", "expected"),
    [
        (date(2027, 3, 28), "Europe/Berlin", "go forward 1 h, from 02:00 to 03:00"),
        (date(2027, 3, 27), "Europe/Berlin", None),
        (date(2027, 3, 29), "Europe/Berlin", None),
        (date(2027, 4, 4), "Australia/Lord_Howe", "go back 30 min, from 02:00 to 01:30"),
        (date(2027, 3, 14), "America/Havana", "go forward 1 h, from 00:00 to 01:00"),
        (date(2011, 12, 31), "Pacific/Apia", "go forward 24 h, from 00:00 to 00:00"),
        (date(2027, 6, 1), "UTC", None),
    ],
)
def test_what_clocks_do_on_a_day_is_said(day: date, zone: str, expected: str | None) -> None:
    """S-DST: also by half an hour, at midnight, by a whole day."""
    changes = clock_changes(day, zone)
    assert changes == (() if expected is None else (f"clocks in {zone} {expected}",))
