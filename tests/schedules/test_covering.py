"""What is passed over as excluded: never an instant too much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onebeat.schedule import Schedule
from onebeat.schedules.covering import covered
from onebeat.schedules.cron import cron
from onebeat.schedules.dues import due_between
from onebeat.schedules.every import every
from onebeat.schedules.instants import EPOCH
from tests.schedules.expressions import places

_SECOND, _NEAR = timedelta(seconds=1), timedelta(hours=8)
_TEXTS = [
    *("* * * * *", "*/30 * * * *", "15 * * * *", "0 * * * *", "0,30 0-3 * * *", "* 1-2 * * *", "30 2 * * *"),
    *("0 */2 * * *", "* 22-23 * * *", "* * * * MON-FRI", "* 2 1-15 * *", "*/15 0 * * *"),
]
_POLICIES: list[dict[str, str]] = [{}, {"gap": "after"}, {"fold": "first"}, {"fold": "second"}]


def _schedules(tz: str) -> st.SearchStrategy[Schedule]:
    zones = st.sampled_from([tz, tz, "UTC", "Asia/Kathmandu", "Africa/Monrovia"])
    crons = st.builds(
        lambda text, zone, policy: cron(text, zone, **policy),
        st.sampled_from(_TEXTS),
        zones,
        st.sampled_from(_POLICIES),
    )
    return st.one_of(crons, crons, st.sampled_from([60, 90, 1800, 3600, 5400, 7200]).map(every))


def _at(moment: datetime) -> int:
    return (moment - EPOCH) // _SECOND


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), places())
def test_within_what_is_covered_every_instant_is_excluded(
    data: st.DataObject, place: tuple[str, datetime]
) -> None:
    """S-MORE: what a difference passes over holds nothing that would be due, across changes of the clock."""
    tz, start = place
    inside, outside = data.draw(_schedules(tz)), data.draw(_schedules(tz))
    common = (due for due in due_between(inside, start, start + _NEAR) if outside.matches(due))
    due = next(common, None)
    found = None if due is None else covered(inside, outside, _at(due))
    if due is None or found is None:
        return
    assert found[0] <= _at(due) < found[1]
    first, last = max(found[0], _at(due - _NEAR)), min(found[1] - 1, _at(due + _NEAR))
    span = due_between(inside, EPOCH + (first - 1) * _SECOND, EPOCH + last * _SECOND)
    assert [inner for inner in span if not outside.matches(inner)] == []


@pytest.mark.parametrize(
    ("inside", "outside", "at", "hours"),
    [
        ("0 * * * *", "*/30 * * * *", "2027-01-05T10:00", None),
        ("CRON_TZ=Asia/Kathmandu 45 * * * *", "0 * * * *", "2027-01-05T10:00", None),
        ("0 9 * * *", "0 9 * * TUE", "2027-01-05T09:00", 24),
        ("* * * * *", "* 9 * * *", "2027-01-05T09:30", 1),
        ("* * * * *", "30 9 * * *", "2027-01-05T09:30", 1 / 60),
    ],
)
def test_what_is_covered_is_as_long_as_it_can_be_told(
    inside: str, outside: str, at: str, hours: float | None
) -> None:
    """S-MORE: minutes, hours and days at a time."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    found = covered(cron(inside), cron(outside), _at(moment))
    assert found is not None
    if hours is None:
        assert found[1] - found[0] > 86_400 * 100
    else:
        assert found[1] - found[0] == hours * 3600


def test_a_time_made_up_for_after_a_gap_is_not_passed_over() -> None:
    """S-DST, S-MORE: right after a gap a schedule may be due at a time of day that is none of its own."""
    late = cron("30 2 * * *", "Europe/Berlin", gap="after") - cron("30 * * * *", "Europe/Berlin")
    after_gap = datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert late.next_after(datetime(2027, 1, 1, tzinfo=UTC)) == after_gap
    assert late.previous_before(datetime(2027, 12, 1, tzinfo=UTC)) == after_gap


def test_a_repeated_hour_that_a_policy_leaves_out_excludes_nothing() -> None:
    """S-DST, S-MORE: what the exclusion is not due at stays due."""
    second = cron("30 2 * * *", "Europe/Berlin") - cron("* * * * *", "Europe/Berlin", fold="first")
    assert second.next_after(datetime(2027, 1, 1, tzinfo=UTC)) == datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    first = cron("30 2 * * *", "Europe/Berlin") - cron("* * * * *", "Europe/Berlin", fold="second")
    assert first.next_after(datetime(2027, 1, 1, tzinfo=UTC)) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)


def test_zones_half_an_hour_apart_share_no_hour() -> None:
    """S-MORE: an hour of one zone lies in two of the other."""
    # Nine in Kolkata is from 03:30 to 04:30 in UTC.
    rest = cron("0,45 9 * * *", "Asia/Kolkata") - cron("* 3 * * *")
    assert rest.next_after(datetime(2027, 1, 1, 3, tzinfo=UTC)) == datetime(2027, 1, 1, 4, 15, tzinfo=UTC)


def test_an_offset_of_odd_seconds_covers_nothing() -> None:
    """S-MORE: Liberia was 44:30 behind until 1972; its minutes begin elsewhere."""
    text = "0,30,40 * * * * *"
    rest = cron(text, "Africa/Monrovia", seconds=True) - cron(text, seconds=True)
    moment = datetime(1971, 6, 1, tzinfo=UTC)
    assert rest.next_after(moment - _SECOND) == moment + timedelta(seconds=10)
