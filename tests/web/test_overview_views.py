"""Which jobs a page of the list has, in which order, and what each row says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from onebeat.errors import InvalidSetting
from onebeat.history import END_OF_TIME, JobState, Mark
from onebeat.insight.upcoming import next_of
from onebeat.insight.wellness import Fleet
from onebeat.model import Verdict
from onebeat.web.reading import Instants
from onebeat.web.views.overview import JobRow, in_words, job_rows, wellness
from onebeat.web.views.overview_ask import OverviewAsk, Sort, State, overview_ask
from onebeat.web.views.overview_pick import ROWS, picked
from tests.rows import NOON, job, replica

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)


def due(of: JobState) -> datetime | None:
    return next_of(of, NOON)


def ids(jobs: Sequence[JobState], ask: OverviewAsk, running: Sequence[str] = ()) -> list[str]:
    return [job.job_id for job in picked(jobs, running, ask, due).jobs]


def row(of: JobState, durations: Sequence[float | None] = (), zone: ZoneInfo = UTC) -> JobRow:
    marks = [Mark(NOON, Verdict.RAN, 0.0, duration) for duration in durations]
    page = picked([of], [], OverviewAsk(), due)
    [made] = job_rows(page, {of.job_id: marks}, [], due, now=NOON, zone=zone, places=50)
    return made


def test_a_query_says_which_jobs_and_gives_itself_back() -> None:
    query = {
        "search": "a&b", "prefix": "x/", "verdict": "failed", "state": "paused", "sort": "next", "page": "3"
    }  # fmt: skip
    ask = overview_ask(query)
    assert ask == OverviewAsk("a&b", "x/", Verdict.FAILED, State.PAUSED, Sort.NEXT, 3)
    assert ask.query == "?search=a%26b&prefix=x%2F&verdict=failed&state=paused&sort=next&page=3"
    assert ask.by(Sort.ID) == "?search=a%26b&prefix=x%2F&verdict=failed&state=paused"
    assert overview_ask({"search": "", "verdict": "", "page": ""}) == OverviewAsk()
    assert OverviewAsk().query == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verdict", "nonsense"),
        ("state", "RUNNING"),
        ("sort", "id;"),
        ("page", "0"),
        ("page", "-1"),
        ("page", "²"),
        ("page", "9" * 5000),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=name):
        overview_ask({name: value})


def test_jobs_are_found_by_part_of_their_id_prefix_verdict_and_state() -> None:
    jobs = [
        job("a/One", last_verdict=Verdict.FAILED, failures=2),
        job("a/two", last_verdict=Verdict.RAN),
        job("b/one", last_verdict=None, paused_until=END_OF_TIME),
    ]
    assert ids(jobs, OverviewAsk(search="ONE")) == ["a/One", "b/one"]
    assert ids(jobs, OverviewAsk(prefix="a/")) == ["a/One", "a/two"]
    assert ids(jobs, OverviewAsk(prefix="/")) == []
    assert ids(jobs, OverviewAsk(verdict=Verdict.RAN)) == ["a/two"]
    assert ids(jobs, OverviewAsk(state=State.FAILING)) == ["a/One"]
    assert ids(jobs, OverviewAsk(state=State.PAUSED)) == ["b/one"]
    assert ids(jobs, OverviewAsk(state=State.RUNNING), running=["a/two"]) == ["a/two"]
    assert ids(jobs, OverviewAsk(search="one", prefix="b")) == ["b/one"]


def test_jobs_are_sorted_and_equals_stay_by_id() -> None:
    jobs = [
        job("a", None, last_verdict=Verdict.RAN),
        job("b", "every(hours=1)", last_verdict=Verdict.LOST, failures=1),
        job("c", "every(minutes=1)", failures=7, last_verdict=Verdict.FAILED),
        job("d", "every(minutes=1)", paused_until=END_OF_TIME),
    ]
    assert ids(jobs, OverviewAsk(sort=Sort.ID)) == ["a", "b", "c", "d"]
    assert ids(jobs, OverviewAsk(sort=Sort.NEXT)) == ["c", "b", "a", "d"]
    assert ids(jobs, OverviewAsk(sort=Sort.VERDICT)) == ["c", "b", "a", "d"]
    assert ids(jobs, OverviewAsk(sort=Sort.FAILURES)) == ["c", "b", "a", "d"]


def test_every_verdict_has_its_place_in_the_order() -> None:
    jobs = [job(verdict.value, last_verdict=verdict) for verdict in Verdict]
    order = ids(jobs, OverviewAsk(sort=Sort.VERDICT))
    assert (order[0], order[-1]) == ("failed", "ran")
    assert set(order) == {verdict.value for verdict in Verdict}


def test_pages_hold_each_job_once_and_none_lies_behind_the_last() -> None:
    jobs = [job(f"{number:04}") for number in range(ROWS * 2 + 1)]
    pages = [picked(jobs, [], OverviewAsk(page=number), due) for number in (1, 2, 3)]
    assert [one.job_id for page in pages for one in page.jobs] == [one.job_id for one in jobs]
    assert [(page.first, page.last, page.found, page.pages) for page in pages] == [
        (1, 50, 101, 3), (51, 100, 101, 3), (101, 101, 101, 3),
    ]  # fmt: skip
    assert picked(jobs, [], OverviewAsk(page=999), due) == pages[2]
    nothing = picked([], [], OverviewAsk(), due)
    assert (nothing.first, nothing.last, nothing.pages) == (0, 0, 1)


def test_the_next_instant_is_as_short_as_it_is_clear_on_the_clocks_of_the_zone() -> None:
    soon = row(job("a", "every(minutes=1)"), zone=BERLIN)
    assert (soon.next_at, soon.next_words) == (NOON + MINUTE, "13:01:00")
    assert row(job("a", "cron('0 9 * * *')")).next_words == "2027-03-02 09:00"
    never = row(job("a", "Tides(3)"))
    assert (never.next_at, never.next_words, never.schedule) == (None, "–", "Tides(3)")


def test_schedules_are_told_in_words_with_their_zone() -> None:
    assert in_words("every(minutes=1)") == ("Every minute", "UTC")
    assert in_words("cron('30 2 * * *', tz='Europe/Berlin')") == ("At 02:30 every day", "Europe/Berlin")
    assert in_words(None) == ("none registered", None)
    words, zone = in_words("every(minutes=1) | cron('0 9 * * *', tz='Europe/Berlin')")
    assert zone is None
    assert "Europe/Berlin" in words
    assert len(in_words("x" * 5000)[0]) < 200
    assert "\u202e" not in in_words("Tides(\u202e3)")[0]


def test_median_and_95_percent_are_those_of_what_has_a_duration() -> None:
    made = row(job("a"), [None, *(float(number) for number in range(1, 21))])
    assert (made.median, made.p95) == ("10.5 s", "19.0 s")
    assert (row(job("a")).median, row(job("a"), [None]).p95) == ("–", "–")


def test_a_pause_says_until_when() -> None:
    assert row(job("a", paused_until=END_OF_TIME)).paused == "until resumed"
    assert row(job("a", paused_until=NOON)).paused == "until 2027-03-01 12:00:00 UTC"
    assert row(job("a")).paused is None


def test_a_fleet_that_is_not_well_says_why_in_few_words() -> None:
    fleet = Fleet(NOON, (replica("a"),), (job("a", failures=1), job("b", paused_until=NOON)), ())
    troubles = [f"trouble {number} {'x' * 1000} \u202e" for number in range(8)]
    told = wellness(fleet, troubles, ["b"])
    assert (told.replicas, told.jobs, told.running, told.failing, told.paused) == (1, 2, 1, 1, 1)
    assert (len(told.troubles), told.more) == (5, 3)
    assert all(len(trouble) <= 300 for trouble in told.troubles)


def test_next_instants_are_remembered_until_they_have_come() -> None:
    instants, minutely = Instants(), job("a", "every(minutes=1)")
    for seconds in (0, 59, 60, 61, 30, 200):
        moment = NOON + timedelta(seconds=seconds)
        assert instants.next_of(minutely, moment) == next_of(minutely, moment), seconds
    paused = job("b", "every(minutes=1)", paused_until=NOON + 5 * MINUTE)
    assert instants.next_of(paused, NOON) == NOON + 5 * MINUTE
    assert instants.next_of(job("c", "every(minutes=1)", paused_until=END_OF_TIME), NOON) is None
    assert instants.next_of(job("d", None), NOON) is None
    assert instants.next_of(minutely, NOON) == NOON + MINUTE
