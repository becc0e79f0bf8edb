"""The page of one job, over HTTP."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import escape, unescape
from typing import Any

import pytest
from starlette.requests import Request

from onebeat.control import Target
from onebeat.model import Record, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import dashboard
from onebeat.web.pages import job as job_page
from tests.rows import NOON
from tests.web.fleet_rows import APP, HOSTILE, join, run, tell, visitor

MINUTE = timedelta(minutes=1)
EVERY_MINUTE = "every(minutes=1)"


class Fleet:
    """A store that some replica has filled, by a clock that the test moves."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON)
        self.store = MemoryStore(clock=self.clock)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    async def ran(self, job_id: str, count: int = 1, verdict: Verdict = Verdict.RAN, **how: Any) -> None:
        """So many runs, one a minute, up to now."""
        for _ in range(count):
            self.clock.step(MINUTE)
            await run(self.store, "web-1", Tick(job_id, self.now), verdict, **how)

    async def page(self, **query: str) -> str:
        answer = await self.asked(**query)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    async def asked(self, **query: str) -> Any:
        async with visitor(self.store) as client:
            return await client.get("/job", params=query)


@pytest.fixture
async def fleet() -> Fleet:
    given = Fleet()
    await join(given.store, "web-1", {"report": EVERY_MINUTE, HOSTILE: EVERY_MINUTE, "own": "Tides(3)"})
    return given


async def test_a_job_that_never_ran_has_a_page(fleet: Fleet) -> None:
    page = await fleet.page(id="report")
    assert "waits for its next tick" in page
    assert "No tick is written down." in page
    assert "No run in this stretch of time has begun." in page
    assert "Why the newest" not in page


async def test_each_run_is_drawn_and_leads_to_its_tick(fleet: Fleet) -> None:
    await fleet.ran("report", 3)
    page = await fleet.page(id="report", over="1h")
    assert page.count('<rect class="bar ran"') == 3
    assert ">web-1<title>" in page
    for link in re.findall(r'<a href="(/tick[^"]+)"', page):
        async with visitor(fleet.store) as client:
            assert (await client.get(unescape(link))).status_code == 200


async def test_runs_and_ticks_that_nobody_ran_stand_in_one_table(fleet: Fleet) -> None:
    await fleet.ran("report", 1, Verdict.FAILED, error="ValueError: no\n\nmore")
    fleet.clock.step(MINUTE)
    await tell(fleet.store, "web-1", Record(Tick("report", fleet.now), Verdict.MISSED, "nobody was there"))
    page = await fleet.page(id="report")
    rows = re.findall(r"<tr>.*?</tr>", page.split('class="ticks"')[1].split("</table>")[0], re.DOTALL)[1:]
    assert len(rows) == 2
    assert "missed" in rows[0]
    assert "nobody was there" in rows[0]
    assert "ValueError: no</bdi>" in rows[1]
    assert "its last run did not end well" in page


async def test_ticks_come_in_pages_and_by_their_verdict(fleet: Fleet) -> None:
    await fleet.ran("report", 40)
    await fleet.ran("report", 1, Verdict.FAILED)
    first = await fleet.page(id="report")
    older = unescape(re.findall(r'href="([^"]+)#ticks" rel="next"', first)[0])
    async with visitor(fleet.store) as client:
        second = (await client.get(older)).text
    seen = [re.findall(r'<th scope="row"><a href="([^"]+)"', page) for page in (first, second)]
    assert [len(those) for those in seen] == [25, 16]
    assert len({*seen[0], *seen[1]}) == 41
    assert 'rel="next"' not in second
    assert ">Newest</a>" in second
    failed = await fleet.page(id="report", verdict="failed")
    assert len(re.findall(r'<th scope="row"><a href="/tick', failed)) == 1
    assert '<option value="failed" selected>' in failed
    assert "No tick with that verdict" in await fleet.page(id="report", verdict="lost")


async def test_the_stretch_of_time_is_chosen_by_links(fleet: Fleet) -> None:
    await fleet.ran("report", 2)
    fleet.clock.step(timedelta(hours=3))
    await fleet.ran("report", 1)
    drawn = {
        over: (await fleet.page(id="report", over=over)).count("<rect") for over in ("1h", "6h", "last2")
    }
    assert drawn == {"1h": 1, "6h": 3, "last2": 2}
    page = await fleet.page(id="report", over="6h")
    assert '<a href="/job?id=report&amp;over=1h">1 hour</a>' in page
    assert '<a href="/job?id=report&amp;over=6h" aria-current="true">6 hours</a>' in page


async def test_where_more_ticks_are_than_are_drawn_the_page_says_so(fleet: Fleet) -> None:
    await fleet.ran("report", 301)
    page = await fleet.page(id="report")
    assert page.count("<rect") == 300
    assert "Only the newest 300 ticks are drawn: those since" in page
    assert len(page.encode()) < 150_000


async def test_a_page_stays_small_however_long_the_id_and_the_errors_are(fleet: Fleet) -> None:
    """J-ADD: 200 characters, of which each takes twelve in an address."""
    longest = "🙂" * 200
    await join(fleet.store, "web-1", {longest: EVERY_MINUTE})
    await fleet.ran(longest, 301, Verdict.FAILED, error="ValueError: " + "é" * 8_000)
    page = await fleet.page(id=longest)
    assert page.count("<rect") == 300
    assert len(re.findall(r'<th scope="row"><a href="/tick', page)) == 25
    assert len(page.encode()) < 250_000


async def test_a_run_from_before_the_stretch_of_time_that_goes_on_in_it_is_drawn(fleet: Fleet) -> None:
    fleet.clock.step(MINUTE)
    await run(fleet.store, "web-1", Tick("report", fleet.now), None)
    fleet.clock.step(timedelta(hours=2))
    page = await fleet.page(id="report", over="1h")
    assert '<rect class="bar running"' in page
    assert "runs on web-1 since" in page


async def test_why_the_newest_ticks_did_not_run_is_said(fleet: Fleet) -> None:
    """F-PAUSE: who paused it, and why."""
    await fleet.ran("report", 1)
    pausing = Target(job_id="report")
    await fleet.store.pause(pausing, app=APP, by="ada", reason="repairs", until=None)
    for _ in range(3):
        fleet.clock.step(MINUTE)
        record = Record(Tick("report", fleet.now), Verdict.PAUSED)
        await tell(fleet.store, "web-1", record)
    page = await fleet.page(id="report")
    why = page.split("Why the newest ticks did not run")[1].split("</ul>")[0]
    assert "The newest 3 ticks: paused." in why
    assert "ada paused job report" in why
    assert "repairs" in why
    assert "paused until resumed" in page
    state = page.split('id="job-state"')[1].split("<dl")[0]
    assert "ada paused job report at 2027-03-01 12:01:00Z, until resumed: repairs." in state
    assert "‖ paused then" in page


async def test_instants_that_nobody_claims_are_counted_and_explained(fleet: Fleet) -> None:
    await fleet.ran("report", 1)
    fleet.clock.step(5 * MINUTE)
    page = await fleet.page(id="report")
    assert "4 due since 2027-03-01 12:02:00Z are claimed by nobody so far." in page
    assert "No replica lives that could claim them." in page
    assert "no replica lives: nothing will run it" in page
    await join(fleet.store, "web-2", {"another": EVERY_MINUTE})
    assert "No living replica has registered the job" in await fleet.page(id="report")
    await join(fleet.store, "web-3", {"report": EVERY_MINUTE})
    page = await fleet.page(id="report")
    assert "Living replicas that have it: 1." in page
    assert "1 of 2 living" in page
    fleet.clock.step(timedelta(hours=3))
    assert "At least 100 due since" in await fleet.page(id="report")


async def test_what_was_triggered_waits_without_a_reproach(fleet: Fleet) -> None:
    await fleet.store.trigger("report", app=APP, by="ada", reason="asked", force=False)
    page = await fleet.page(id="report")
    assert "waiting for a replica" in page
    assert "triggered" in page
    assert "Why the newest" not in page


async def test_a_schedule_written_elsewhere_is_said_to_be_unreadable(fleet: Fleet) -> None:
    page = await fleet.page(id="own")
    assert "Tides(3)" in page
    assert "Its schedule was written elsewhere" in page


async def test_an_ended_pause_is_not_told_of_the_job_that_stands(fleet: Fleet) -> None:
    """F-PAUSE"""
    until = fleet.now + MINUTE
    await fleet.store.pause(Target.app(), app=APP, by="ada", reason="repairs", until=until)
    assert "ada paused the whole app" in await fleet.page(id="report")
    fleet.clock.step(2 * MINUTE)
    assert "ada paused" not in await fleet.page(id="report")


async def test_days_on_which_clocks_change_are_marked(fleet: Fleet) -> None:
    """S-DST"""
    await join(fleet.store, "web-1", {"sundays": "cron('0 3 * * 0', tz='Europe/Berlin')"})
    page = await fleet.page(id="sundays")
    [marked] = re.findall(r'<tr class="changes">.*?</tr>', page, re.DOTALL)
    assert "Sun 2027-03-28 03:00:00 CEST" in marked
    assert "⚠ clocks in Europe/Berlin go forward 1 h, from 02:00 to 03:00" in marked


async def test_those_alone_who_may_act_are_given_forms(fleet: Fleet) -> None:
    """F-PAUSE"""
    for user in ("ada", None):
        async with visitor(fleet.store, user=lambda request, who=user: who) as client:
            page = (await client.get("/job", params={"id": "report"})).text
        forms = re.findall(r'<form method="post" action="/act/(\w+)"', page)
        assert forms == (["pause", "resume", "trigger", "cancel"] if user else [])


async def test_nothing_hostile_becomes_markup(fleet: Fleet) -> None:
    """J-ADD: ids and errors are anybody's."""
    await fleet.ran(HOSTILE, 1, Verdict.FAILED, error=f"{HOSTILE}\n{'<script>' * 1_300}")
    page = await fleet.page(id=HOSTILE)
    assert escape("<script>alert('1')</script>", quote=False) in page.replace("&#39;", "'")
    assert page.count("<script") == 1, "the page's own"
    assert 'onload="' not in page
    assert "\u202e" not in re.sub(r'<input type="hidden"[^>]*>', "", page)
    assert len(page) < 30_000


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "id"),
        ({"id": "report", "over": "1y"}, "over"),
        ({"id": "report", "verdict": "well"}, "verdict"),
        ({"id": "report", "after": "nonsense"}, "after"),
        ({"id": "a\0b"}, "id"),
    ],
)
async def test_what_no_page_is_about_is_refused_by_its_field(
    fleet: Fleet, query: dict[str, str], field: str
) -> None:
    answer = await fleet.asked(**query)
    assert answer.status_code == 400
    assert field in answer.text


async def test_a_job_that_nobody_registered_has_no_page(fleet: Fleet) -> None:
    answer = await fleet.asked(id="<b>unknown</b>")
    assert answer.status_code == 404
    assert "<b>" not in answer.text
    assert "unknown" in answer.text


async def test_what_moves_is_told_by_the_ids_it_has_on_the_page(fleet: Fleet) -> None:
    await fleet.ran("report", 2)
    page = await fleet.page(id="report", over="1h")
    told = await fragments(fleet, "id=report&over=1h")
    assert set(told) == {"job-state", "job-drawn", "job-ticks"}
    for element, html in told.items():
        assert f'id="{element}"' in html
        assert html.strip() in page


async def test_what_has_not_moved_is_told_in_the_same_words(fleet: Fleet) -> None:
    """So that it is not sent again."""
    await fleet.ran("report", 1)
    before = await fragments(fleet, "id=report&over=24h")
    fleet.clock.step(timedelta(seconds=3))
    assert await fragments(fleet, "id=report&over=24h") == before


async def fragments(fleet: Fleet, query: str) -> dict[str, str]:
    scope = {
        "type": "http", "method": "GET", "path": "/job", "root_path": "", "query_string": query.encode(),
        "headers": [], "app": dashboard(fleet.store, app=APP),
    }  # fmt: skip
    return await job_page.fragments(Request(scope))
