"""`onebeat simulate` and `onebeat check`: what jobs will ask of a fleet."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onebeat import Scheduler
from onebeat.cli.check import notes, problems
from onebeat.cli.coming import coming_of
from onebeat.cli.shares import shares_of
from onebeat.insight.forecast import Forecast, forecast

Onebeat = Callable[..., Any]

START = datetime(2027, 3, 27, tzinfo=UTC)

APP = """
from onebeat import Scheduler

scheduler = Scheduler(timeout=30)

@scheduler.daily(2, 30, tz="Europe/Berlin", job_id="report")
def report(): ...

@scheduler.cron("0 0 31 2 *", job_id="never")
def never(): ...

for number in range(4):
    scheduler.add(f"sweep {number}", "*/5 * * * *", lambda: None)
"""


def nothing() -> None: ...


def scheduler_with(**jobs: str) -> Scheduler:
    scheduler = Scheduler(timeout=30)
    for name, text in jobs.items():
        scheduler.add(name, text, nothing)
    return scheduler


def ahead(scheduler: Scheduler) -> Forecast:
    return forecast(
        [coming_of(job, 0.0) for job in scheduler.jobs], since=START, until=START + timedelta(days=1)
    )


def test_replicas_share_evenly_and_shares_add_up() -> None:
    """C-FAIR: as a fleet would."""
    jobs = scheduler_with(**{f"job{number}": "*/10 * * * *" for number in range(50)}).jobs
    shares = shares_of(jobs, since=START, until=START + timedelta(days=1), replicas=3)
    assert len(shares) == 3
    assert sum(shares) == pytest.approx(1, abs=0.001)
    assert all(0.8 / 3 <= share <= 1.2 / 3 for share in shares)


def test_no_ticks_are_no_shares() -> None:
    jobs = scheduler_with(never="0 0 31 2 *").jobs
    assert shares_of(jobs, since=START, until=START + timedelta(days=1), replicas=2) == (0.0, 0.0)


def test_whose_runs_may_overlap_is_told_to_the_forecast() -> None:
    scheduler = scheduler_with(a="0 * * * *")
    scheduler.add("loose", "0 * * * *", nothing, overlap="allow")
    found = forecast(
        [coming_of(job, 5400) for job in scheduler.jobs], since=START, until=START + timedelta(days=1)
    )
    assert found.skipped == {"a": 12}


def test_a_stampede_over_the_threshold_is_a_problem() -> None:
    found = ahead(scheduler_with(**{f"job{number}": "0 0 * * *" for number in range(5)}))
    assert [one.level for one in problems(found, 4)] == ["problem"]
    assert list(problems(found, 5)) == []
    assert list(problems(found, None)) == []


def test_a_timeout_above_the_period_is_a_note() -> None:
    scheduler = scheduler_with(slow="* * * * *")
    scheduler.add("slower", "* * * * *", nothing, timeout=300)
    scheduler.add("loose", "* * * * *", nothing, timeout=300, overlap="allow")
    assert [(one.level, one.job_id) for one in notes(scheduler.jobs, START)] == [("note", "slower")]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "app_to_foresee.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "app_to_foresee:scheduler"


def test_simulate_tells_it_in_lines_and_in_json(onebeat: Onebeat, app: str) -> None:
    told = onebeat("simulate", app, "--days", "1", "--duration", "report=10")
    assert told.lines[0].startswith("1,153 ticks from ")
    assert "never due: never" in told.lines
    found = json.loads(onebeat("simulate", app, "--days", "1", "--json").out)
    assert (found["ticks"], found["at_once"], len(found["shares"])) == (1153, 5, 3)


def test_check_fails_on_problems_and_says_what_to_do(onebeat: Onebeat, app: str) -> None:
    told = onebeat("check", app, "--most-at-once", "3")
    assert told.code == 1
    assert [line.split(":")[0] for line in told.lines] == ["problem", "problem", "6 jobs, 2 problems"]
    found = json.loads(onebeat("check", app, "--json").out)
    assert [(one["level"], one["job_id"]) for one in found] == [("problem", "never")]


@pytest.mark.parametrize("words", [(), ("--json",)])
@pytest.mark.parametrize("command", ["simulate", "check"])
def test_an_id_reaches_the_terminal_only_as_what_can_be_shown(
    onebeat: Onebeat, app: str, tmp_path: Path, command: str, words: tuple[str, ...]
) -> None:
    right_to_left = "\u202e"
    text = APP.replace('"never"', f'"{right_to_left}never"')
    (tmp_path / "app_with_odd_id.py").write_text(text)
    told = onebeat(command, "app_with_odd_id:scheduler", *words)
    assert right_to_left not in told.out
    assert "\\u202e" in told.out


@pytest.mark.parametrize(
    "words",
    [
        ("--duration", "report"),
        ("--duration", "report=soon"),
        ("--duration", "report=-1"),
        ("--duration", "nobody=5"),
        ("--days", "0"),
        ("--replicas", "0"),
    ],
)
def test_nonsense_is_one_line_and_code_2(onebeat: Onebeat, app: str, words: tuple[str, str]) -> None:
    told = onebeat("simulate", app, *words)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
