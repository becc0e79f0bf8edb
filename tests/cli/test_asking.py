"""What the commands about a fleet make of what they are asked, on a store in memory or a file."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len

from onebeat.cli.lines import plain, table
from onebeat.cli.status import told_lines
from onebeat.cli.trigger import ended, nobody, what_came
from onebeat.cli.watch import Lines
from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.fleet import Facts, Registration
from onebeat.history import ReplicaState, TickRecord
from onebeat.insight.wellness import SILENCE, Fleet
from onebeat.insight.words import instant
from onebeat.model import Bid, Release, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import SqliteStore
from onebeat.testing import FakeClock
from tests.rows import NOON, job, record

Onebeat = Callable[..., Any]

APP = "default"
WEB_1 = Replica(APP, "id-1", "web-1")
HOUR = timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")


def url_of(path: Path) -> str:
    return f"sqlite:///{path / 'jobs.db'}"


async def joined(store: Any, *job_ids: str, replica: Replica = WEB_1) -> None:
    registrations = [Registration(job_id, "0 * * * *", "digest") for job_id in job_ids]
    now = await store.store_time()
    await store.join(registrations, replica=replica, facts=Facts("1", "2026a", 1), now=now)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A file in which a replica lives that has the job `report`; its ticks of this hour ran and failed."""

    async def fill() -> None:
        store = SqliteStore(tmp_path / "jobs.db")
        await joined(store, "report")
        hour = (await store.store_time()).replace(minute=0, second=0, microsecond=0)
        for back, verdict in ((2, Verdict.FAILED), (1, Verdict.RAN)):
            tick = Tick("report", hour - back * HOUR)
            await store.claim([Bid(tick, f"{back}", HOUR)], replica=WEB_1, timeout=HOUR)
            end = Release(tick, f"{back}", verdict, error=None if verdict is Verdict.RAN else "no paper")
            await store.release([end], replica=WEB_1)
        await store.claim([Bid(Tick("report", hour), "0", HOUR)], replica=WEB_1, timeout=HOUR)
        await store.close()

    asyncio.run(fill())
    return url_of(tmp_path)


def test_each_filter_of_the_history_shows_its_ticks_only(onebeat: Onebeat, url: str) -> None:
    def verdicts(*words: str) -> list[str | None]:
        return [row["verdict"] for row in json.loads(onebeat("history", url, *words, "--json").out)["rows"]]

    assert verdicts() == [None, "ran", "failed"]
    assert verdicts("report") == verdicts("--prefix", "rep") == verdicts("--replica", "web-1") == verdicts()
    assert verdicts("--verdict", "failed", "--verdict", "ran") == ["ran", "failed"]
    assert verdicts("--running") == [None]
    assert verdicts("--since", "70m") == [None, "ran"][: len(verdicts("--since", "70m"))]
    assert verdicts("--until", "70m")[-1:] == ["failed"]
    assert verdicts("--since", "1d", "--until", "12h") == []
    assert verdicts("--prefix", "x") == verdicts("--replica", "web-2") == verdicts("--app", "another") == []
    first = json.loads(onebeat("history", url, "--limit", "1", "--json").out)
    assert verdicts("--after", first["next"]) == ["ran", "failed"]


def test_the_history_tells_the_errors_of_what_failed_and_how_to_go_on(onebeat: Onebeat, url: str) -> None:
    lines = onebeat("history", url).lines
    assert [line.split()[3] for line in lines[1:4]] == ["running", "ran", "failed"]
    assert lines[4:] == [f"report of {' '.join(lines[3].split()[1:3])}: no paper"]
    assert onebeat("history", url, "--limit", "2").lines[-1].startswith("more with --after ")


def test_an_unknown_job_is_said_to_be_one(onebeat: Onebeat, url: str) -> None:
    told = onebeat("history", url, "jobs.db")
    assert (told.code, len(told.lines), told.err) == (
        0, 1, "onebeat: no replica has registered a job 'jobs.db'\n",
    )  # fmt: skip
    assert onebeat("history", url, "report", "--verdict", "lost").err == ""
    told = onebeat("pause", url, "reprot")
    assert (told.code, told.lines) == (0, ["paused job reprot"])
    assert "no replica has registered it" in told.err
    assert onebeat("pause", url, "report").err == onebeat("pause", url, "--prefix", "x").err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("history", "STORE", "--prefix", "\udcff"), "prefix: "),
        (("history", "STORE", "--replica", "\udcff"), "replica: "),
        (("history", "STORE", "\udcff"), "JOB: "),
        (("history", "STORE", "--app", "\udcff"), "--app: "),
        (("history", "STORE", "--since", "5m", "--until", "10m"), "--until: "),
        (("pause", "STORE", "report", "--reason", "\udcff"), "reason: "),
        (("pause", "STORE", "--prefix", "\udcff"), "target: "),
        (("trigger", "STORE", "\udcff"), "JOB: "),
        (("trigger", "STORE", "report", "--by", "\udcff"), "by: "),
        (("cancel", "STORE", "\udcff"), "job_id: "),
        (("trigger", "STORE", "report", "--wait", "--seconds", "0"), "--seconds"),
        (("history", "STORE", "--tz", "Mars/Base"), "--tz: expected an IANA zone"),
        (("why", "STORE", "report", "1h", "--tz", "\udcff"), "--tz: "),
        (("status", "STORE", "--tz", ""), "--tz: "),
        (("history", "report", "STORE"), "STORE comes first"),
        (("why", "report", "STORE", "1h"), "STORE comes first"),
        (("pause", "report", "STORE"), "STORE comes first"),
        (("repair", "report", "STORE"), "STORE comes first"),
        (("repair", "STORE"), "expected [STORE] JOB, got 1 arguments"),
        (("history", "jobs.db", "report"), "'jobs.db' is no STORE"),
        (("repair", "jobs.db", "report"), "'jobs.db' is no STORE"),
        (("status", "jobs.db"), "'jobs.db' is no STORE"),
        (("watch", "jobs.db"), "'jobs.db' is no STORE"),
    ],
)
def test_nonsense_is_named_in_one_line_with_code_2(
    onebeat: Onebeat, url: str, words: tuple[str, ...], said: str
) -> None:
    told = onebeat(*(url if word == "STORE" else word for word in words))
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert said in told.err


@pytest.mark.parametrize("command", ["status", "history", "replicas", "why", "watch", "pause", "cancel"])
def test_times_are_shown_in_the_zone_that_was_asked_for(onebeat: Onebeat, url: str, command: str) -> None:
    words = {
        "why": ("report", "0m"),
        "watch": ("--seconds", "1"),
        "pause": ("report", "--until", "2h"),
        "cancel": ("report",),
    }.get(command, ())
    if command == "why":
        words = ("report", json.loads(onebeat("history", url, "--json").out)["rows"][0]["scheduled_at"])
    if command == "watch":
        words = (*words, "--app", "another")  # nothing to show: the rows are tested below
    told = onebeat(command, url, *words, "--tz", "Asia/Kathmandu")
    assert "+05:45" in told.out or command == "watch"
    assert "00Z" not in told.out


def test_what_is_watched_is_shown_in_the_zone_that_was_asked_for() -> None:
    told: list[str] = []
    Lines(told.append, BERLIN).show((record(NOON),))
    assert "2027-03-01 13:00:00+01" in told[0]


def test_an_instant_is_shown_so_that_it_can_be_given_back() -> None:
    assert instant(NOON) == instant(NOON, ZoneInfo("UTC")) == "2027-03-01 12:00:00Z"
    assert instant(NOON, BERLIN) == "2027-03-01 13:00:00+01"
    assert instant(NOON, ZoneInfo("America/St_Johns")) == "2027-03-01 08:30:00-03:30"
    assert instant(None, BERLIN) == "-"
    for zone in (UTC, BERLIN, ZoneInfo("America/St_Johns"), ZoneInfo("Europe/London")):
        assert datetime.fromisoformat(instant(NOON, zone)) == NOON


def test_a_table_counts_cells_of_a_terminal() -> None:
    ids = ("報告.日次", "e\u0301te\u0301", "x", "報" * 90)
    lines = table(("job", "verdict"), [(one, "ran") for one in ids])
    assert len({cell_len(line.removesuffix("verdict").removesuffix("ran")) for line in lines}) == 1
    assert all(cell_len(line) <= 80 for line in lines)
    assert cell_len(plain("報" * 50, 10)) <= 10
    assert plain("報告", 4) == "報告"
    assert plain("報告x", 4).endswith("…")


def test_a_trigger_that_nobody_can_take_up_is_said_and_not_waited_for(onebeat: Onebeat, url: str) -> None:
    """F-PAUSE: nobody lives, or none of the living has the job."""

    async def leave() -> None:
        store = SqliteStore(url.removeprefix("sqlite:///"))
        await joined(store, "another", replica=Replica(APP, "id-2", "web-2"))
        await store.leave(replica=WEB_1)
        await store.close()

    asyncio.run(leave())
    told = onebeat("trigger", url, "report", "--wait")
    assert (told.code, told.out) == (1, "")
    assert "no living replica has the job" in told.err
    assert "nothing was triggered" in told.err
    told = onebeat("trigger", url, "report")
    assert (told.code, len(told.lines)) == (0, 1)
    assert "it starts when one comes" in told.err
    assert len(json.loads(onebeat("history", url, "--json").out)["rows"]) == 4
    assert onebeat("trigger", url, "nobody-knows-it", "--wait").code == 2


async def test_who_has_died_with_everybody_else_counts_for_nobody() -> None:
    """F-JUDGE: there is nobody left to declare it dead."""
    clock = FakeClock()
    store: Any = MemoryStore(clock=clock)
    await joined(store, "report")
    assert await nobody(store, "report", APP) is None
    await clock.jump(SILENCE + timedelta(seconds=1))
    assert await nobody(store, "report", APP) == "no replica lives"
    fleet = Fleet(clock.now(), tuple(await store.replicas(app=APP)), (), ())
    assert (list(fleet.living), [one.label for one in fleet.silent], list(fleet.dead)) == ([], ["web-1"], [])
    assert fleet.troubles == ["no replica lives"]


async def test_a_verdict_is_waited_for_so_long_and_no_longer() -> None:
    """F-PAUSE: also while the store does not answer."""
    clock = FakeClock()
    store: Any = MemoryStore(clock=clock)
    await joined(store, "report")
    tick = await store.trigger("report", app=APP, by="ada", reason="to see", force=False)
    waiting = asyncio.create_task(ended(store, tick, APP, 10, clock))
    await clock.advance(seconds=9)
    assert not waiting.done()
    await clock.advance(seconds=2)
    assert what_came(await waiting, 10) == "nobody has taken it up within 10s; it still waits"
    await store.claim([Bid(tick, "token", HOUR, triggered=True)], replica=WEB_1, timeout=HOUR)
    assert what_came(await ended(store, tick, APP, 0, clock), 90) == "still running on web-1 after 1m30s"
    waiting = asyncio.create_task(ended(store, tick, APP, 60, clock))
    await clock.advance(seconds=5)
    await store.release([Release(tick, "token", Verdict.FAILED, error="no paper")], replica=WEB_1)
    await clock.advance(seconds=1)
    assert what_came(waiting.result(), 60) == "failed on web-1: no paper"
    assert await ended(store, Tick("report", NOON), APP, 60, clock) is None
    assert what_came(None, 60) == "its row is gone"
    assert what_came(record(NOON), 60) == "ran on web-1 in 2.00s"


async def test_a_wait_goes_on_when_the_store_does_not_answer_for_a_while() -> None:
    """F-PAUSE, D-DOWN"""
    clock, asked = FakeClock(), []

    class Flaky:
        async def tick(self, tick: Tick, *, app: str) -> TickRecord:
            asked.append(tick)
            if len(asked) < 3 or len(asked) > 3:
                raise ClaimFailed("down", ClaimFailure.UNAVAILABLE)
            return record(NOON)

    store: Any = Flaky()
    waiting = asyncio.create_task(ended(store, Tick("report", NOON), APP, 10, clock))
    await clock.advance(seconds=5)
    assert waiting.result() == record(NOON)
    waiting = asyncio.create_task(ended(store, Tick("report", NOON), APP, 10, clock))
    await clock.advance(seconds=11)
    with pytest.raises(ClaimFailed):
        waiting.result()


def test_why_tells_who_paused_what_has_a_row_and_what_has_none(onebeat: Onebeat, url: str) -> None:
    """F-PAUSE, F-VERDICT"""
    onebeat("pause", url, "--prefix", "re", "--by", "ada", "--reason", "stocktaking")
    told = onebeat("why", url, "report", (datetime.now(UTC) + HOUR).isoformat())
    assert told.lines[:2] == ["That is still to come.", "As things stand it will not run."]
    assert told.lines[2].startswith("ada paused jobs re… at ")
    told = onebeat("why", url, "report", (datetime.now(UTC) + HOUR).isoformat(), "--json")
    assert json.loads(told.out)["pause"]["by"] == "ada"


def test_nothing_is_said_to_be_left_out_of_a_table_that_holds_all() -> None:
    living = ReplicaState("id", "web-1", "1", "2026a", 1, NOON, NOON, NOON, None, 0.0, {})
    untried = [job(job_id=f"new-{n:02}", last_success_at=None, last_verdict=None) for n in range(20)]
    lines = list(told_lines(Fleet(NOON, (living,), tuple(untried), ()), UTC))
    assert lines[-1].startswith("new-19")


def test_force_and_the_rest_of_what_is_asked_reach_the_store(onebeat: Onebeat, url: str) -> None:
    """F-PAUSE: a trigger is forced where that was asked for, and only there."""
    assert onebeat("trigger", url, "report", "--force", "--by", "ada", "--reason", "urgent").code == 0
    assert onebeat("trigger", url, "report", "--by", "bob").code == 0
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db:
        asked = "SELECT asked_by, reason, forced FROM onebeat_ticks WHERE triggered ORDER BY scheduled_at"
        assert db.execute(asked).fetchall() == [("ada", "urgent", 1), ("bob", "by hand", 0)]


async def test_a_verdict_that_may_be_replaced_is_waited_past() -> None:
    """F-VERDICT"""
    clock = FakeClock()
    rows = iter([record(NOON, Verdict.OVERLAPPED, provisional=True), record(NOON)])

    class Store:
        async def tick(self, tick: Tick, *, app: str) -> TickRecord:
            return next(rows)

    store: Any = Store()
    waiting = asyncio.create_task(ended(store, Tick("report", NOON), APP, 10, clock))
    await clock.advance(seconds=2)
    assert waiting.result() == record(NOON)


def test_why_names_the_nearest_ticks_on_either_side(onebeat: Onebeat, url: str) -> None:
    """F-VERDICT: of one without a row."""
    rows = json.loads(onebeat("history", url, "--json").out)["rows"]
    between = (datetime.fromisoformat(rows[1]["scheduled_at"]) - HOUR / 2).isoformat()
    near = json.loads(onebeat("why", url, "report", between, "--json").out)["nearest"]
    assert [row["scheduled_at"] for row in near] == [rows[2]["scheduled_at"], rows[1]["scheduled_at"]]
