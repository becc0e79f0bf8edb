"""Delays drawn from ticks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from onebeat.model import Tick
from onebeat.schedules.jitter import delay_of

_NOON = datetime(2027, 3, 4, 12, tzinfo=UTC)


def test_a_delay_is_the_same_wherever_it_is_drawn() -> None:
    """S-MORE: deterministic jitter by hash(job, tick); these figures are a promise to mixed versions."""
    drawn = timedelta(seconds=443, microseconds=233_049)
    assert delay_of(Tick("report", _NOON), timedelta(minutes=10)) == drawn
    elsewhere = Tick("report", _NOON.astimezone(ZoneInfo("Asia/Tokyo")))
    assert delay_of(elsewhere, timedelta(minutes=10)) == drawn


@given(st.text(min_size=1), st.datetimes(timezones=st.just(UTC)), st.timedeltas(min_value=timedelta(0)))
def test_a_delay_is_bounded(job_id: str, instant: datetime, most: timedelta) -> None:
    """S-MORE: the delay stays below what was asked for, however long."""
    assert timedelta(0) <= delay_of(Tick(job_id, instant), most) <= most


def test_delays_spread_evenly_over_jobs_and_over_the_ticks_of_a_job() -> None:
    """S-MORE: jitter spreads the load."""
    most = timedelta(seconds=10)
    jobs = [Tick(f"job-{n}", _NOON) for n in range(1000)]
    ticks = [Tick("report", _NOON + timedelta(minutes=n)) for n in range(1000)]
    for those in (jobs, ticks):
        tenths = [delay_of(tick, most) // timedelta(seconds=1) for tick in those]
        assert all(60 < tenths.count(n) < 140 for n in range(10))
