"""What an import costs: modules are counted, since seconds differ from machine to machine."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import onebeat

DEAR = {"asyncpg", "click", "flask", "opentelemetry", "psycopg", "psycopg_pool", "rich", "sqlalchemy"}
FOR_SERVING = {
    "http",
    "logging.config",
    "onebeat.alerts",
    "onebeat.background",
    "onebeat.engine.child_process",
    "onebeat.engine.session",
    "onebeat.events",
    "onebeat.history",
    "onebeat.observers.logs",
    "onebeat.schedules.explain",
    "onebeat.serving",
    "sqlite3",
    "urllib.request",
}
TWO_JOBS = """
from onebeat import Scheduler
scheduler = Scheduler()
scheduler.cron("0 6 * * *", job_id="report")(lambda: None)
scheduler.every(minutes=5, job_id="poll")(lambda: None)
"""
STARTED_THEN_RUN = """
from onebeat import Scheduler
from onebeat.testing import FakeClock
async def main():
    global before
    ran = []
    clock = FakeClock()
    scheduler = Scheduler("memory://", clock=clock)
    @scheduler.every(seconds=10, job_id="poll")
    async def poll():
        ran.append("poll")
    @scheduler.cron("* * * * *", job_id="report")
    def report():
        ran.append("report")
    async with scheduler:
        before = set(sys.modules)
        await clock.advance(minutes=1)
        later = set(sys.modules) - before
    assert {*ran} == {"poll", "report"}
    before = set(sys.modules) - later
asyncio.run(main())
"""
EVERY_NAME = """
import importlib, pkgutil, sys, types
import onebeat
for module in pkgutil.walk_packages(onebeat.__path__, "onebeat."):
    if module.name.count(".") == 1 and module.name != "onebeat.__main__":
        importlib.import_module(module.name)
print(*(name for name in onebeat.__all__ if isinstance(getattr(onebeat, name), types.ModuleType)))
"""


def modules_added_by(lines: str) -> set[str]:
    """What *lines* load in a fresh interpreter that has asyncio already."""
    program = f"import sys, asyncio\nbefore = set(sys.modules)\n{lines}\nprint(*(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


@pytest.mark.parametrize("lines", ["import onebeat", TWO_JOBS], ids=["import", "two jobs"])
def test_what_only_registers_jobs_loads_nothing_that_serves_them(lines: str) -> None:
    added = modules_added_by(lines)
    assert not DEAR & {name.partition(".")[0] for name in added}
    assert not FOR_SERVING & added
    assert not [
        name for name in added if name.startswith(("onebeat.cli", "onebeat.stores", "onebeat.testing"))
    ]


def test_a_scheduler_that_has_started_has_loaded_all_that_its_ticks_need() -> None:
    """A first tick that loads modules is late."""
    assert modules_added_by(STARTED_THEN_RUN) == set()


def test_each_public_name_is_there_whatever_has_been_loaded_before_it_is_asked_for() -> None:
    """A module of the same name, once loaded, would stand in the place of a name that is loaded late."""
    ran = subprocess.run([sys.executable, "-c", EVERY_NAME], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_name_that_is_not_public_is_not_found_and_public_ones_are_listed() -> None:
    assert not hasattr(onebeat, "nothing")
    assert set(onebeat.__all__) <= set(dir(onebeat))


def test_importing_onebeat_adds_few_modules_to_asyncio() -> None:
    strangers = {name for name in modules_added_by("import onebeat") if not name.startswith("onebeat")}
    assert len(strangers) <= 25, sorted(strangers)


def test_the_pytest_plugin_loads_nothing_dear() -> None:
    """Every run of pytest imports it, wherever onebeat is installed."""
    added = modules_added_by("import onebeat.testing.plugin")
    assert not DEAR & {name.partition(".")[0] for name in added}


def test_what_the_postgresql_package_offers_is_there_whenever_it_is_asked_for() -> None:
    from onebeat.stores import postgres

    for _ in range(2):  # its modules loaded between the two
        assert {name for name in postgres.__all__ if not hasattr(postgres, name)} == set()
        assert inspect.iscoroutinefunction(postgres.migrate)
    assert not hasattr(postgres, "nothing")
