"""`onebeat jobs` lists what a scheduler holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onebeat import Scheduler, cron
from onebeat.cli.jobs import in_units, row_of

Onebeat = Callable[..., Any]

NOON = datetime(2027, 3, 27, 12, tzinfo=UTC)

APP = """
from onebeat import Scheduler

scheduler = Scheduler(timeout=90, lease_margin=30)

@scheduler.daily(2, 30, tz="Europe/Berlin", job_id="report", late=60)
def report(): ...

@scheduler.every(minutes=5, job_id="sweep", timeout=None, on_every_replica=True)
def sweep(): ...
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_an_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app_with_jobs.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def nothing() -> None: ...


def test_into_a_pipe_it_writes_a_line_a_job_with_tabs_between(onebeat: Onebeat) -> None:
    report, sweep = (line.split("\t") for line in onebeat("jobs", "app_with_jobs:scheduler").lines)
    assert report[:3] == ["report", "At 02:30 every day, Europe/Berlin", "Europe/Berlin"]
    assert report[4] == "timeout 1m30s, lease 2m, late 1m, overlap forbid"
    assert sweep[4] == "on every replica"


def test_json_is_an_array_of_objects_with_durations_in_seconds(onebeat: Onebeat) -> None:
    report, sweep = json.loads(onebeat("jobs", "app_with_jobs:scheduler", "--json").out)
    assert (report["timeout"], report["lease"], report["late"]) == (90.0, 120.0, 60.0)
    assert (sweep["timeout"], sweep["lease"], sweep["on_every_replica"]) == (None, None, True)
    assert datetime.fromisoformat(report["next"]).hour == 2


def test_the_next_tick_is_told_in_the_zone_of_the_job() -> None:
    scheduler = Scheduler()
    scheduler.add("report", cron("0 9 * * *", tz="Asia/Tokyo"), nothing)
    scheduler.add("never", "0 0 31 2 *", nothing)
    report, never = (row_of(job, NOON) for job in scheduler.jobs)
    assert report.next == "2027-03-28T09:00:00+09:00"
    assert never.next is None


def test_a_schedule_of_a_kind_written_elsewhere_is_told_by_its_repr() -> None:
    class Hand:
        def next_after(self, moment: datetime) -> datetime | None:
            return moment + timedelta(hours=1)

        def previous_before(self, moment: datetime) -> datetime | None:
            return moment - timedelta(hours=1)

        def matches(self, moment: datetime) -> bool:
            return False

        def __repr__(self) -> str:
            return "by hand"

    scheduler = Scheduler()
    scheduler.add("report", Hand(), nothing)
    (row,) = (row_of(job, NOON) for job in scheduler.jobs)
    assert (row.schedule, row.zone, row.next) == ("by hand", "UTC", "2027-03-27T13:00:00+00:00")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.5, "0.5s"), (60, "1m"), (3600, "1h"), (3661.5, "1h1m1.5s"), (90_000, "25h")]
)
def test_durations_are_told_in_units(seconds: float, words: str) -> None:
    assert in_units(seconds) == words


def test_what_a_module_prints_is_no_part_of_the_list(onebeat: Onebeat, tmp_path: Path) -> None:
    (tmp_path / "app_that_prints.py").write_text("print('hello')\nfrom app_with_jobs import scheduler\n")
    result = onebeat("jobs", "app_that_prints:scheduler", "--json")
    assert len(json.loads(result.out)) == 2
    assert result.err == "hello\n"


def test_an_id_that_the_terminal_cannot_show_is_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "app_abroad.py").write_text(
        "from onebeat import Scheduler\nscheduler = Scheduler()\nscheduler.add('j\\u00f6b', '@daily', all)\n"
    )
    program = (
        "import sys; from onebeat.cli import jobs, main; jobs.on_terminal = lambda: True; "
        "sys.exit(main(['jobs', 'app_abroad:scheduler']))"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"j?b" in done.stdout
