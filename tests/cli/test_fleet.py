"""The commands about a fleet, on stores in which real schedulers have run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from onebeat import Run, Scheduler
from onebeat.cli.fleet_replicas import cells
from onebeat.cli.lines import in_json, plain, table
from onebeat.cli.status import told_lines
from onebeat.history import END_OF_TIME, ReplicaState, TickRecord
from onebeat.insight.wellness import Fleet
from onebeat.model import Verdict
from tests.rows import NOON, job, record

Onebeat = Callable[..., Any]

HOSTILE = "it's\u001b[31m red"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("database"))
    return f"sqlite:///{tmp_path / 'jobs.db'}"


def a_minute_of_life(url: str) -> None:
    """A scheduler on a real clock, whose jobs are triggered: one runs, one fails."""

    async def live() -> None:
        scheduler = Scheduler(url, replica="web-1", ttl=2)

        @scheduler.daily(3, job_id="report")
        def report(run: Run) -> None: ...

        @scheduler.daily(3, job_id="broken")
        def broken() -> None:
            raise ValueError("no paper\u001b[2J")

        async with scheduler:
            store = scheduler._store
            assert store is not None
            ended: list[str] = []
            while len(ended) < 2:
                with suppress(ValueError):  # the jobs are registered a moment after the start
                    for job_id in ("report", "broken"):
                        if job_id not in ended:
                            await store.trigger(  # type: ignore[attr-defined]
                                job_id, app="default", by="ada", reason="to see", force=False
                            )
                            ended.append(job_id)
                await asyncio.sleep(0.05)
            while any(row.verdict is None for row in (await rows(store))):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    asyncio.run(live())


async def rows(store: Any) -> tuple[TickRecord, ...]:
    from onebeat.history import TickFilter

    page = await store.ticks(TickFilter(), app="default", limit=10)
    return tuple(page.rows)


def test_what_has_run_is_told_in_every_way_that_people_ask(onebeat: Onebeat, url: str) -> None:
    """F-VERDICT: status, history, why and replicas, from another process's point of view."""
    a_minute_of_life(url)
    status = onebeat("status", url)
    assert status.code == 1
    assert status.lines[0] == "not well: no replica lives; 1 of 2 jobs fail"
    assert any(line.startswith("broken") for line in status.lines)
    told = json.loads(onebeat("history", url, "--json").out)
    assert {row["verdict"] for row in told["rows"]} == {"ran", "failed"}
    ran = next(row for row in told["rows"] if row["verdict"] == "ran")
    assert (ran["job_id"], ran["replica"], ran["by"], ran["reason"]) == ("report", "web-1", "ada", "to see")
    lines = onebeat("history", url, "broken").lines
    assert len(lines) == 3
    assert "no paper\\x1b[2J" in lines[2]
    why = onebeat("why", url, "report", ran["scheduled_at"])
    assert why.lines[0] == "It ran on web-1."
    assert "triggered by ada: to see" in why.out
    failed = next(row for row in told["rows"] if row["verdict"] == "failed")
    why = onebeat("why", url, "broken", failed["scheduled_at"])
    assert "Noted: ValueError: no paper\\x1b[2J" in why.lines
    assert why.lines[-1] == "ValueError: no paper\\x1b[2J", "the end of its traceback"
    assert "Traceback (most recent call last):" in why.lines
    assert json.loads(onebeat("replicas", url, "--json").out)["replicas"][0]["label"] == "web-1"
    assert all(len(line) <= 80 for line in onebeat("replicas", url).lines)
    assert onebeat("history", url, "--verdict", "lost").lines == [
        "job       scheduled  verdict  replica  late  took"
    ]


def test_a_fleet_is_paused_resumed_triggered_and_cancelled(onebeat: Onebeat, url: str) -> None:
    """F-PAUSE: by anybody who reaches the store; each with its answer."""
    a_minute_of_life(url)
    assert onebeat("pause", url, "report", "--until", "2h", "--reason", "holiday").out.startswith(
        "paused job report until"
    )
    assert "1 paused" in onebeat("status", url).out
    assert onebeat("resume", url, "report").lines == ["resumed job report"]
    assert onebeat("resume", url, "report").lines == ["job report: was not paused"]
    assert onebeat("pause", url, "--all").lines == ["paused the whole app"]
    assert onebeat("resume", url, "--all").code == 0
    assert onebeat("trigger", url, "report").lines[0].startswith("triggered report, ")
    assert onebeat("cancel", url, "report").lines[0].startswith("asked to cancel report of ")
    assert onebeat("cancel", url, "report").lines == ["report: nothing runs"]


def test_trigger_waits_for_the_verdict_of_a_living_fleet(onebeat: Onebeat, url: str) -> None:
    """F-PAUSE: and its exit code says whether it ran."""
    ready, over = Event(), Event()

    def live() -> None:
        async def serve() -> None:
            scheduler = Scheduler(url, replica="web-1", ttl=1)
            scheduler.daily(3, job_id="report")(lambda: None)
            scheduler.daily(3, job_id="broken")(lambda: 1 / 0)
            async with scheduler:
                await asyncio.sleep(1)
                ready.set()
                await asyncio.to_thread(over.wait)

        asyncio.run(serve())

    fleet = Thread(target=live)
    fleet.start()
    try:
        assert ready.wait(30)
        ran, failed = onebeat("trigger", url, "report", "--wait"), onebeat("trigger", url, "broken", "--wait")
        watched = onebeat("watch", url, "--seconds", "1")
    finally:
        over.set()
        fleet.join(30)
    assert (ran.code, ran.lines[1].split(" in ")[0]) == (0, "ran on web-1")
    assert failed.code == 1
    assert "ZeroDivisionError" in failed.lines[1]
    assert len(watched.lines) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("status", "mysql://host/db"),
        ("history", "memory://", "a", "b"),
        ("history", "memory://", "--since", "yesterday"),
        ("history", "memory://", "--since", "2027-03-01T12:00"),
        ("history", "memory://", "--since", "99999999999d"),
        ("pause", "memory://", "report", "--until", "9999999d"),
        ("history", "memory://", "--after", "nonsense"),
        ("history", "memory://", "--verdict", "fine"),
        ("why", "memory://", "report"),
        ("why", "memory://", "report", "noon"),
        ("pause", "memory://"),
        ("pause", "memory://", "report", "--all"),
        ("pause", "memory://", "report", "--reason", ""),
        ("trigger", "memory://", "nobody knows it"),
        ("cancel", "memory://"),
        ("replicas", "memory://", "more"),
        ("watch", "memory://", "--seconds", "0"),
    ],
)
def test_nonsense_is_one_line_and_code_2(onebeat: Onebeat, words: tuple[str, ...]) -> None:
    told = onebeat(*words)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)


def test_a_store_that_cannot_be_reached_is_one_line_and_code_1(onebeat: Onebeat) -> None:
    told = onebeat("status", "postgresql://nobody@127.0.0.1:1/nothing")
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert plain(HOSTILE) == "it's\\x1b[31m red"
    assert plain("a\nb\t\u202e", 80) == "a\\nb\\t\\u202e"
    assert plain("x" * 100, 10) == "x" * 9 + "…"


def test_json_holds_nothing_that_a_terminal_would_obey_and_reads_back_in_full() -> None:
    hostile = "é \x1b[2J \x9b31m \u202e \U000e0001 \ud800\n"
    told = in_json({hostile: [hostile]})
    assert all(char.isprintable() or char == "\n" for char in told)
    assert "é" in told
    assert json.loads(told) == {hostile: [hostile]}


def test_why_knows_the_last_instant_that_there_is(onebeat: Onebeat) -> None:
    told = onebeat("why", "memory://", "report", "9999-12-31T23:59:59Z")
    assert told.code == 0
    assert "ever registered" in told.lines[0]


def test_a_table_fits_its_width_whatever_stands_in_it() -> None:
    lines = table(("job", "verdict", "late"), [("j" * 200, "claim_error", "3d4h"), ("a", "ran", "0.10s")])
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].endswith("…  claim_error  3d4h")
    assert lines[2].split() == ["a", "ran", "0.10s"]


def test_status_tells_the_dead_the_paused_the_untried_and_how_many_it_left_out() -> None:
    beat_at = NOON - timedelta(minutes=1)
    dead = ReplicaState("id", "web-2", "1", "2026a", 1, NOON, beat_at, NOON, NOON, 0.0, {})
    left = ReplicaState("id", "web-3", "1", "2026a", 1, NOON, NOON, NOON, NOON, 0.0, {})
    asleep = job(job_id="asleep", paused_until=END_OF_TIME)
    awake = job(schedule="every(hours=1)", failures=2, last_verdict=Verdict.FAILED)
    untried = [job(job_id=f"new-{n:02}", last_success_at=None, last_verdict=None) for n in range(25)]
    running = record(NOON, None, started_at=None, finished_at=None)
    lines = list(told_lines(Fleet(NOON, (dead, left), (asleep, awake, *untried), (running,)), UTC))
    assert lines[:2] == [
        "not well: no replica lives; 1 of 27 jobs fail",
        "0 replicas alive, 1 died of late; 27 jobs, 1 running, 1 paused",
    ]
    heads = [line.split("  ")[0] for before, line in pairwise(lines) if not before]
    assert heads == ["failing", "dead", "paused", "never succeeded", "job"]
    assert lines[3].split()[-1] == "next"
    assert lines[4].split() == [
        "report",
        "2",
        "failed",
        *["2027-03-01", "12:00:00Z"],
        *["2027-03-01", "13:00:00Z"],
    ]
    assert lines[7].split() == ["web-2", "1", "2027-03-01", "11:59:00Z", "2027-03-01", "12:00:00Z"]
    assert [line.split() for line in lines if line.startswith("asleep")] == [
        ["asleep", "it", "is", "resumed", "-"]
    ]
    assert sum(line.startswith("new-") for line in lines) == 20
    assert "and 5 more: --json tells all" in lines
    assert lines[-1].split()[:4] == ["report", "2027-03-01", "12:00:00Z", "running"]
    assert all(len(line) <= 80 for line in lines)


def test_a_replica_that_left_is_not_told_as_dead() -> None:
    row = ReplicaState("id", "web-3", "1", "2026a", 1, NOON, NOON, NOON, NOON, 0.0, {})
    later = NOON + timedelta(seconds=5)
    assert cells(row, later, UTC)[3].startswith("left")
    assert cells(replace(row, beat_at=NOON - timedelta(minutes=1)), later, UTC)[3].startswith("dead")
    assert cells(replace(row, dead_at=None), later, UTC)[3].endswith("ago")
