"""What jobs will ask of a fleet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from onebeat.insight import forecast as forecasting
from onebeat.insight.forecast import Coming, Forecast, TooMany, forecast
from onebeat.schedule import Schedule
from onebeat.schedules.parse import parse

START = datetime(2027, 3, 27, tzinfo=UTC)


def jobs(**texts: str) -> dict[str, Schedule]:
    return {job_id: parse(text) for job_id, text in texts.items()}


def ahead(schedules: dict[str, Schedule], *, usual: float = 0.0, **durations: float) -> Forecast:
    coming = [
        Coming(job_id, schedule, durations.get(job_id, usual)) for job_id, schedule in schedules.items()
    ]
    return forecast(coming, since=START, until=START + timedelta(days=1))


def test_ticks_are_counted_by_instant_and_by_minute() -> None:
    found = ahead(jobs(a="0 * * * *", b="0 */2 * * *", c="30 12 * * *"))
    assert found.ticks == 24 + 12 + 1
    assert (found.at_once, found.at_once_at) == (2, START)
    assert found.collisions == 12
    assert (found.busiest[0].at, found.busiest[0].ticks, found.busiest[0].jobs) == (START, 2, ("a", "b"))


def test_the_end_of_the_span_is_not_in_it() -> None:
    assert ahead(jobs(a="0 0 * * *")).ticks == 1


def test_runs_that_outlast_their_period_skip_ticks_and_meet_others() -> None:
    both = jobs(a="0 * * * *", b="30 * * * *")
    found = ahead(both, a=5400)
    assert found.skipped == {"a": 12}
    assert ahead(both, usual=2400).together == 2
    loose = Coming("loose", parse("0 * * * *"), 5400, overlaps=True)
    assert forecast([loose], since=START, until=START + timedelta(days=1)).skipped == {}


def test_clock_changes_and_schedules_that_never_come_are_told() -> None:
    found = ahead(jobs(never="0 0 31 2 *", report="CRON_TZ=Europe/Berlin 30 2 * * *"))
    assert found.never == ("never",)
    assert any("2027-03-28" in text for text in found.surprises["report"])


def test_a_span_that_holds_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "MOST_INSTANTS", 100)
    with pytest.raises(TooMany):
        ahead(jobs(a="* * * * *"))
