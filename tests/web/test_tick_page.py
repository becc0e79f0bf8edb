"""The page of one tick: the view, and over HTTP."""

from __future__ import annotations

from datetime import timedelta
from html import escape
from typing import Any

import httpx
import pytest

from onebeat.history import AuditRecord
from onebeat.insight.why import Known
from onebeat.model import TRACEBACK, Bid, Release, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web.views.addresses import tick_path
from onebeat.web.views.tick_page import TickPage, tick_page
from tests.rows import NOON, job, tick
from tests.web.fleet_rows import HOSTILE, join, known, run, visitor

NOW = NOON + timedelta(hours=1)
TRACE = "ab" * 16
BOOM = (
    f'ValueError: boom{TRACEBACK}Traceback (most recent call last):\n  File "x.py", line 1\nValueError: boom'
)


def shown(trace_url: str | None = None, pause: AuditRecord | None = None, **fields: Any) -> TickPage:
    record = tick("report", **fields)
    state = job("report", first_seen=NOON - timedelta(days=1))
    return tick_page(Known(record.tick, NOW, record, state, None, None, pause), trace_url, NOON.tzinfo)  # type: ignore[arg-type]


def test_the_first_sentence_says_what_became_of_it() -> None:
    page = shown(verdict=Verdict.FAILED, finished_at=NOON + timedelta(seconds=5), note=BOOM, attempt=2)
    assert page.answer == "It failed on a, attempt 2."
    assert page.badge.word == "failed"
    assert dict(page.facts)["Took"] == "5.0 s"
    assert [term for term, _ in page.times] == ["Scheduled", "Claimed", "Began", "Ended"]


def test_the_whole_traceback_is_told_once() -> None:
    page = shown(verdict=Verdict.FAILED, note=BOOM)
    assert page.error == BOOM
    assert not any("boom" in sentence for sentence in page.sentences)


def test_what_nobody_ran_says_why() -> None:
    """F-PAUSE: who paused it, and why."""
    pause = AuditRecord(1, NOON - timedelta(minutes=5), "pause", "job report", "ada", "repairs", None)
    page = shown(verdict=Verdict.PAUSED, replica=None, claimed_at=None, started_at=None, pause=pause)
    assert page.answer == "It was skipped: the job was paused."
    assert any("ada paused job report" in sentence for sentence in page.sentences)
    assert "Attempt" not in dict(page.facts)


def test_who_triggered_it_is_told() -> None:
    facts = dict(shown(triggered=True, by="ada", reason="asked for").facts)
    assert (facts["Triggered by"], facts["Why it was triggered"]) == ("ada", "asked for")


def test_a_trace_is_linked_by_the_given_address_alone() -> None:
    assert (
        shown("https://traces.example/{trace_id}", trace_id=TRACE).trace_path
        == f"https://traces.example/{TRACE}"
    )
    assert shown("javascript:{trace_id}", trace_id=TRACE).trace_path is None
    assert shown(None, trace_id=TRACE).trace_path is None
    assert shown("https://traces.example/{trace_id}").trace_path is None


def test_a_tick_without_a_row_leads_to_its_neighbours() -> None:
    at = Tick("report", NOON)
    near = tick("report", NOON - timedelta(minutes=1))
    page = tick_page(Known(at, NOW, None, job("report"), near, None, None), None, NOON.tzinfo)  # type: ignore[arg-type]
    assert page.nearest == (("The tick before it", "/tick?id=report&at=2027-03-01T11:59:00Z"),)
    assert (page.times, page.facts, page.error) == ((), (), None)


class Asked:
    """A store with a run that failed, and what its dashboard answers."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON)
        self.store = MemoryStore(clock=self.clock)
        self.tick = Tick(HOSTILE, NOON)

    async def fill(self) -> None:
        await join(self.store, "web-1", {HOSTILE: "every(minutes=1)", "quiet": "every(minutes=1)"})
        bid = Bid(self.tick, "token", timedelta(hours=1))
        await self.store.claim([bid], replica=known("web-1"), timeout=timedelta(seconds=10))
        error = f"ValueError: {HOSTILE}{TRACEBACK}{'<img src=x onerror=alert(1)>' * 200}"
        end = Release(self.tick, "token", Verdict.FAILED, NOON, NOON, error, TRACE)
        await self.store.release([end], replica=known("web-1"))

    async def get(self, **query: str) -> httpx.Response:
        async with visitor(self.store, trace_url='https://traces.example/{trace_id}?a="b"') as client:
            return await client.get("/tick", params=query)


@pytest.fixture
async def asked() -> Asked:
    given = Asked()
    await given.fill()
    return given


async def test_a_tick_has_a_page_on_which_nothing_hostile_becomes_markup(asked: Asked) -> None:
    """J-ADD: ids and errors are anybody's."""
    answer = await asked.get(id=HOSTILE, at="2027-03-01T12:00:00Z")
    assert answer.status_code == 200
    page = answer.text
    assert "It failed on web-1." in page
    assert escape("<img src=x onerror=alert(1)>") * 200 in page
    assert "<img" not in page
    assert page.count("<script") == 1, "the page's own"
    assert "\u202e" not in page
    assert f'href="https://traces.example/{TRACE}?a=&#34;b&#34;"' in page


async def test_an_instant_is_read_in_any_zone_and_with_its_plus_as_it_stands(asked: Asked) -> None:
    """S-KEY: the key is the instant."""
    for at in ("2027-03-01T13:00:00+01:00", "2027-03-01T07:00-05:00"):
        assert "It failed" in (await asked.get(id=HOSTILE, at=at)).text
    async with visitor(asked.store) as client:
        answer = await client.get("/tick?id=quiet&at=2027-03-01T13:00:00+01:00")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "at",
    [
        "2027-03-01T12:00:00Z",
        "2027-03-01T12:30:00Z",
        "2001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
    ],
)
async def test_a_tick_that_has_no_row_has_a_page_that_says_so(asked: Asked, at: str) -> None:
    for zone in ("UTC", "Pacific/Kiritimati", "America/New_York"):
        async with visitor(asked.store, tz=zone) as client:
            answer = await client.get("/tick", params={"id": "quiet", "at": at})
        assert answer.status_code == 200, zone
        assert "Its schedule is every(minutes=1)." in answer.text


async def test_a_run_is_cancelled_by_those_alone_who_may_act(asked: Asked) -> None:
    """F-PAUSE: and only while it goes on."""
    going = Tick("quiet", NOON)
    await run(asked.store, "web-1", going, None)
    for each, user, forms in ((going, "ada", 1), (going, None, 0), (asked.tick, "ada", 0)):
        async with visitor(asked.store, user=lambda request, who=user: who) as client:
            page = (await client.get(tick_path(each))).text
        assert page.count('action="/act/cancel"') == forms, (each, user)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"at": "2027-03-01T12:00:00Z"}, "id"),
        ({"id": "quiet"}, "at"),
        ({"id": "quiet", "at": "2027-03-01T12:00:00"}, "at"),
        ({"id": "quiet", "at": "2027-03-01 12:00"}, "at"),
        ({"id": "quiet", "at": "yesterday"}, "at"),
        ({"id": "quiet", "at": "<script>"}, "at"),
        ({"id": "quiet", "at": "0001-01-01T00:00:00+05:00"}, "at"),
        ({"id": "a\0b", "at": "2027-03-01T12:00:00Z"}, "id"),
    ],
)
async def test_what_names_no_tick_is_refused_by_its_field(
    asked: Asked, query: dict[str, str], field: str
) -> None:
    answer = await asked.get(**query)
    assert answer.status_code == 400
    assert field in answer.text
    assert "<script>" not in answer.text


async def test_a_tick_of_a_job_that_nobody_registered_has_no_page(asked: Asked) -> None:
    answer = await asked.get(id="<b>unknown</b>", at="2027-03-01T12:00:00Z")
    assert answer.status_code == 404
    assert "<b>" not in answer.text
    assert "unknown" in answer.text
