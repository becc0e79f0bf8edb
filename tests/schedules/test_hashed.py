"""H in a cron text: drawn from the job's id."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat import Scheduler, daily
from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import Cron, HashedCron, cron
from onebeat.schedules.explain import explain
from onebeat.schedules.parse import parse

_NOW = datetime(2026, 12, 1, tzinfo=UTC)


def _hashed(text: str, seconds: bool = False) -> HashedCron:
    found = cron(text, "Europe/Berlin", extended=True, seconds=seconds)
    assert isinstance(found, HashedCron)
    return found


def test_what_is_drawn_is_the_same_for_ever() -> None:
    """S-MORE: a stable hash; a value drawn otherwise would move every job at an upgrade."""
    drawn = {job: _hashed("H H H H H").for_job(job).text for job in ("report", "billing/close")}
    assert drawn == {"report": "31 7 6 3 6", "billing/close": "54 23 6 8 0"}


@given(st.text(min_size=1, max_size=20))
def test_every_draw_lies_in_its_field_and_range(job_id: str) -> None:
    """S-MORE: H, H(a-b), H/n and H(a-b)/n in any field."""
    minute, hour, day, month, weekday = _hashed("H(10-19) H/6 H H(3-5) H(1-5)/2").for_job(job_id).text.split()
    assert 10 <= int(minute) <= 19
    start, _, rest = hour.partition("-")
    assert 0 <= int(start) <= 5
    assert rest == "23/6"
    assert 1 <= int(day) <= 28
    assert 3 <= int(month) <= 5
    assert weekday in ("1-5/2", "2-5/2")
    assert cron("H H * * *", extended=True).for_job(job_id).next_after(_NOW) is not None  # type: ignore[union-attr]


def test_jobs_spread_evenly_and_fields_apart() -> None:
    """S-MORE: the load spreads, and one field tells nothing of another."""
    texts = [_hashed("H H * * *").for_job(f"job-{n}").text.split() for n in range(6000)]
    minutes, hours = (Counter(words[place] for words in texts) for place in (0, 1))
    assert len(minutes) == 60
    assert all(50 < count < 160 for count in minutes.values())
    assert len(hours) == 24
    assert len({(words[0], words[1]) for words in texts}) > 1300


def test_it_is_due_at_no_time_before_it_is_bound() -> None:
    """S-MORE: not complete until it is bound, and the error says how."""
    unbound = _hashed("H 3 * * *")
    for ask in (unbound.next_after, unbound.previous_before, unbound.matches):
        with pytest.raises(InvalidSchedule, match="for_job"):
            ask(_NOW)
    with pytest.raises(InvalidSchedule, match="for_job"):
        explain(unbound)
    with pytest.raises(InvalidSchedule, match="for_job"):
        (unbound | daily(3)).next_after(_NOW)


def test_registering_a_job_binds_it() -> None:
    """S-MORE: Scheduler.add and the decorators bind, inside a combination too."""
    scheduler, unbound = Scheduler(), _hashed("H 3 * * *")
    scheduler.add("report", unbound, print)
    scheduler.add("both", (unbound | daily(9)) - unbound, print)
    scheduler.cron("H 3 * * *", tz="Europe/Berlin", extended=True, job_id="decorated")(print)
    report, both, decorated = (job.schedule for job in scheduler.jobs)
    assert report == unbound.for_job("report")
    assert both == (unbound.for_job("both") | daily(9)) - unbound.for_job("both")
    assert decorated == unbound.for_job("decorated")
    assert isinstance(report, Cron)


@pytest.mark.parametrize(
    "schedule",
    [
        _hashed("H 3 * * *"),
        _hashed("H H(1-5)/2 LW * *"),
        _hashed("H H 3 * * *", seconds=True),
        cron("H 3 * * *", "Europe/Berlin", extended=True, policy="vixie"),
        cron("H 3 * * *", extended=True, gap="after"),
    ],
    ids=repr,
)
def test_unbound_and_bound_are_values(schedule: HashedCron) -> None:
    """S-VALUE: frozen, hashable, picklable, with a repr that makes it again."""
    for one in (schedule, schedule.for_job("report")):
        for twin in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), eval(repr(one), {"cron": cron})):
            assert twin == one
            assert hash(twin) == hash(one)
            assert repr(twin) == repr(one)


def test_settings_survive_the_binding() -> None:
    """S-MORE: zone, policies and seconds are those of the text."""
    fixed = cron("H 2 * * *", "Europe/Berlin", extended=True, policy="vixie")
    assert isinstance(fixed, HashedCron)
    assert (fixed.for_job("a").wall.gap, fixed.for_job("a").wall.fold) == ("after", "first")
    wild = cron("H * * * *", "Europe/Berlin", extended=True, policy="vixie")
    assert isinstance(wild, HashedCron)
    assert (wild.for_job("a").wall.gap, wild.for_job("a").wall.fold) == ("skip", "both")
    assert _hashed("H H 3 * * *", seconds=True).for_job("a").seconds


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("H(5-2) * * * *", r"minute \(column 1\)"),
        ("H(0-60) * * * *", r"minute \(column 1\)"),
        ("* H/0 * * *", r"hour \(column 3\)"),
        ("* HH * * *", r"hour \(column 3\)"),
        ("* H-3 * * *", r"hour \(column 3\)"),
        ("* 5,H() * * *", r"hour \(column 3\)"),
        ("H * H(0-3) * *", r"day-of-month \(column 5\)"),
        ("H * * * 8", r"day-of-week \(column 9\)"),
    ],
)
def test_a_wrong_one_is_refused_where_it_stands(text: str, field: str) -> None:
    """S-CRON: an error names the field and the column."""
    with pytest.raises(InvalidSchedule, match=field):
        cron(text, extended=True)


def test_it_is_read_on_request_only() -> None:
    """S-CRON: robfig's grammar has no H, so neither has parse."""
    for read in (cron, parse):
        with pytest.raises(InvalidSchedule, match="extended=True reads H"):
            read("H 3 * * *")
