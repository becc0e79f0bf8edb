"""The calendar: views of days by hour and by minute, and the page over HTTP."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from onebeat.history import Tally
from onebeat.model import Record, Tick, Verdict
from onebeat.schedules.cron import cron
from onebeat.schedules.every import every
from onebeat.stores.memory import MemoryStore
from onebeat.stores.postgres import PostgresStore
from onebeat.testing import FakeClock
from onebeat.web.views.calendar import Outlook, minute_map_of, outlook_of
from onebeat.web.views.load import load_of
from onebeat.web.views.local_days import days_from, instant_of, local_day
from onebeat.web.views.past import NOT_WELL, concerned, past_of, span_of
from onebeat.web.views.plan import plan_of
from tests.rows import job, tick
from tests.web.fleet_rows import APP, HOSTILE, HOSTILE_AS_SHOWN, join, run, tell, visitor

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2027, 3, 27, 6, 30, tzinfo=UTC)  # the day before clocks go forward there


def outlook(*texts: str, days: int = 3, since: datetime = START, most: int = 1_000_000) -> Outlook:
    plan = plan_of([job(f"job-{number}", text) for number, text in enumerate(texts)], None, since)
    span = days_from(since.astimezone(BERLIN).date(), days, BERLIN)
    return outlook_of(load_of(plan, span, since, most=most), BERLIN)


def test_each_day_has_its_ticks_by_the_hours_of_its_wall_clock() -> None:
    """S-DST: of 23 hours, the one that does not come is not to come."""
    today, short, usual = outlook(repr(cron("0 * * * *", tz="Europe/Berlin"))).rows
    assert (today.name, today.ticks, today.note) == ("Sat 2027-03-27", 16, "")
    assert [cell.kind for cell in today.cells[6:10]] == ["past", "heat-0", "heat-1", "heat-1"]
    assert (short.ticks, short.note) == (23, "23 hours")
    assert [cell.kind for cell in short.cells[1:4]] == ["heat-1", "past", "heat-1"]
    assert (usual.ticks, usual.note) == (24, "")


def test_a_day_with_a_stampede_says_so() -> None:
    nightly = [repr(cron("0 3 * * 1", tz="Europe/Berlin"))] * 10
    assert [(row.peak, row.stampede) for row in outlook(*nightly, repr(every(hours=1))).rows] == [
        ("1 at 08:00", False), ("1 at 00:00 CET", False), ("11 at 03:00", True),
    ]  # fmt: skip


def test_an_hour_that_comes_twice_has_the_ticks_of_both() -> None:
    """S-DST: 25 hours."""
    since = datetime(2027, 10, 30, 22, tzinfo=UTC)
    [row] = outlook(repr(cron("0,30 * * * *", tz="Europe/Berlin")), days=1, since=since).rows
    assert (row.ticks, row.note) == (50, "25 hours")
    assert [cell.count for cell in row.cells[1:4]] == [2, 4, 2]


def test_what_the_bound_cut_off_is_no_quiet_time() -> None:
    found = outlook("cron('* * * * * *', seconds=True)", most=100_000)
    assert [row.note for row in found.rows] == ["", "23 hours, not counted", "not counted"]
    assert {cell.kind for cell in found.rows[2].cells} == {"unknown"}
    cut = outlook("cron('* * * * * *', seconds=True)", most=10_000)
    assert cut.rows[0].note == "counted in part"
    assert [cell.kind for cell in cut.rows[0].cells[8:12]] == ["heat-5", "heat-5", "unknown", "unknown"]


def test_a_day_by_minute_has_a_row_for_each_hour_and_a_stretch_for_what_is_alike() -> None:
    found = outlook(repr(every(minutes=1)), repr(cron("15 9 * * *", tz="Europe/Berlin")))
    day = minute_map_of(found.load, found.load.days[1], BERLIN)
    assert len(day.rows) == 23
    nine = next(row for row in day.rows if row.label == "09")
    assert [(each.first, each.length) for each in nine.stretches] == [(0, 15), (15, 1), (16, 44)]
    assert (nine.ticks, nine.peak) == (61, "2 at 09:15")
    assert day.busiest[0][0] == "09:15 CEST"


def test_the_map_of_today_shows_what_has_passed_as_such() -> None:
    found = outlook(repr(every(minutes=1)))
    today = minute_map_of(found.load, found.load.days[0], BERLIN)
    assert [each.kind for each in today.rows[6].stretches] == ["past"]
    assert [(each.first, each.length, each.kind) for each in today.rows[7].stretches] == [
        (0, 30, "past"), (30, 30, "heat-1"),
    ]  # fmt: skip


def test_half_an_hour_that_comes_twice_stands_where_its_minutes_are() -> None:
    """S-DST: clocks of Lord Howe are set back by half an hour."""
    howe = ZoneInfo("Australia/Lord_Howe")
    [day] = days_from(date(2027, 4, 4), 1, howe)
    since = instant_of(day.start)
    load = load_of(plan_of([job("a", repr(every(minutes=30)))], None, since), [day], since)
    again = [row for row in minute_map_of(load, day, howe).rows if row.label.startswith("01")][1]
    assert [(each.first, each.length) for each in again.stretches] == [(30, 1), (31, 29)]
    assert again.peak == "1 at 01:30"


def test_what_was_is_told_by_local_day_and_hour_the_newest_day_first() -> None:
    days = days_from(date(2027, 3, 27), 2, BERLIN)
    late = datetime(2027, 3, 27, 22, tzinfo=UTC)
    tallies = [
        Tally(late, Verdict.MISSED, 3),
        Tally(late + timedelta(hours=1), Verdict.FAILED, 2),  # midnight in Berlin
        Tally(late + timedelta(hours=1), Verdict.MISSED, 1),
    ]
    past = past_of(tallies, days, BERLIN)
    newest, oldest = past.rows
    assert (newest.iso, newest.note, newest.total) == ("2027-03-28", "23 hours", 3)
    assert dict(zip(NOT_WELL, newest.counts, strict=True))[Verdict.FAILED] == 2
    assert newest.cells[0].count == 3
    assert oldest.cells[23].count == 3
    assert past.total == 6


def test_an_hour_that_comes_twice_is_asked_for_as_a_whole_and_one_that_does_not_come_is_empty() -> None:
    """S-DST"""
    twice, missing = local_day(date(2027, 10, 31), BERLIN), local_day(date(2027, 3, 28), BERLIN)
    since, until = span_of(twice, 2, BERLIN)
    assert until - since == timedelta(hours=2)
    since, until = span_of(missing, 2, BERLIN)
    assert until == since
    since, until = span_of(missing, None, BERLIN)
    assert until - since == timedelta(hours=23)


def test_the_jobs_concerned_come_with_their_verdicts_and_their_latest() -> None:
    records = [
        tick("often", START, verdict=Verdict.MISSED),
        tick("once", START, verdict=Verdict.LOST),
        tick("often", START - timedelta(hours=1), verdict=Verdict.FAILED),
    ]
    often, once = concerned(records)
    assert (often.job_id, often.latest.tick.scheduled_at) == ("often", START)
    assert often.counts == ((Verdict.FAILED, 1), (Verdict.MISSED, 1))
    assert (once.job_id, once.total) == ("once", 1)


async def test_an_empty_store_has_an_empty_calendar() -> None:
    async with visitor(MemoryStore()) as client:
        answer = await client.get("/calendar")
    assert answer.status_code == 200
    assert "No job is registered yet." in answer.text
    assert "Nothing failed, was lost or was missed" in answer.text
    assert "<svg" not in answer.text


async def test_the_page_shows_what_is_to_come_and_what_was() -> None:
    store = MemoryStore(clock=FakeClock(START))
    nightly = {f"nightly-{number:02}": "cron('0 3 * * *')" for number in range(12)}
    await join(store, "a", {**nightly, HOSTILE: "every(minutes=1)", "own": "Moon()"})
    await run(store, "a", Tick(HOSTILE, START - timedelta(hours=2)), Verdict.FAILED, error="no paper")
    await run(store, "a", Tick("nightly-00", START - timedelta(hours=2)), Verdict.RAN)
    await tell(store, "a", Record(Tick("nightly-01", START - timedelta(days=1)), Verdict.MISSED))
    async with visitor(store, tz="Europe/Berlin") as client:
        page = (await client.get("/calendar")).text
        tomorrow = (await client.get("/calendar", params={"day": "2027-03-28"})).text
        that_day = (await client.get("/calendar", params={"was": "2027-03-26", "hour": "7"})).text
    assert HOSTILE not in page
    assert HOSTILE_AS_SHOWN in page
    assert f"/job?{urlencode({'id': HOSTILE})}" in page
    assert "1 job whose schedule is known to its replicas alone" in page
    assert "By minute: Sat 2027-03-27" in page
    assert "By minute: Sun 2027-03-28" in tomorrow
    assert "23 hours" in tomorrow
    assert "▲ stampede" in tomorrow
    assert "05:00 CEST" in tomorrow
    assert "nightly-01" in that_day
    assert "Jobs concerned: 2027-03-26, hour 07" in that_day
    assert that_day.count("/tick?") == 1
    assert page.count("/tick?") == 2  # not what ran


async def test_jobs_that_nobody_lives_to_run_are_shown_as_what_would_be() -> None:
    clock = FakeClock(START)
    store = MemoryStore(clock=clock)
    await join(store, "a", {"report": "cron('0 3 * * *')"})
    await clock.jump(minutes=10)
    async with visitor(store) as client:
        assert "No replica lives: this is what would be" in (await client.get("/calendar")).text
    await join(store, "b", {"other": "cron('0 3 * * *')"})
    async with visitor(store) as client:
        page = (await client.get("/calendar")).text
    assert "1 job that no living replica has, not counted" in page


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"day": "soon"}, "day"),
        ({"day": "2026-01-01"}, "day"),
        ({"was": "1899-01-01"}, "was"),
        ({"was": "0001-01-01"}, "was"),
        ({"was": "2027-03-01", "hour": "24"}, "hour"),
        ({"was": "2027-03-01", "hour": "²"}, "hour"),
        ({"hour": "3"}, "hour"),
    ],
)
async def test_nonsense_is_refused_by_its_name(query: dict[str, str], field: str) -> None:
    async with visitor(MemoryStore(clock=FakeClock(START))) as client:
        answer = await client.get("/calendar", params=query)
    assert answer.status_code == 400
    assert field in answer.text


async def test_a_job_due_each_second_and_ten_thousand_jobs_make_a_page_of_bounded_size() -> None:
    store = MemoryStore(clock=FakeClock(START))
    jobs = {
        f"job {number:05}": f"cron('{number % 60} {number // 60 % 24} * * *')" for number in range(10_000)
    }
    await join(store, "a", {**jobs, "each second": "every(seconds=1)"})
    async with visitor(store) as client:
        page = (await client.get("/calendar", params={"day": "2027-03-29"})).text
        again = (await client.get("/calendar", params={"day": "2027-03-29"})).text
    assert "96,400" in page
    assert page == again
    assert len(page) < 140_000


async def test_a_restless_fleet_whose_every_hour_had_a_failure_makes_no_longer_page() -> None:
    store = MemoryStore(clock=FakeClock(START))
    jobs = {f"job {number}": f"cron('{number % 60}/7 {number % 24} * * *')" for number in range(1_500)}
    await join(store, "a", jobs)
    hours = [START - timedelta(hours=number) for number in range(27 * 24)]
    await tell(store, "a", *(Record(Tick(f"job {at:%H}", at), Verdict.MISSED) for at in hours))
    async with visitor(store) as client:
        page = (await client.get("/calendar", params={"day": "2027-03-29", "was": "2027-03-20"})).text
    assert (
        page.count("&amp;hour=") == 24
    )  # those of the chosen day alone: nobody tabs through a month of them
    assert len(page) < 140_000


async def test_on_postgresql_the_page_is_the_same(database: str) -> None:
    store = PostgresStore(database)
    await join(store, "a", {"report": "cron('0 3 * * *')", HOSTILE: "every(hours=1)"})
    at = (await store.store_time()).replace(minute=0, second=0, microsecond=0)
    await tell(store, "a", Record(Tick(HOSTILE, at - timedelta(days=2)), Verdict.MISSED))
    async with visitor(store) as client:
        page = await client.get("/calendar")
    await store.close()
    assert page.status_code == 200
    assert "1 tick did not end well" in page.text
    assert page.text.count("/tick?") == 1
    assert HOSTILE not in page.text
    assert APP in page.text
