"""What an import costs: modules are counted, since seconds differ from machine to machine."""

from __future__ import annotations

import inspect
import subprocess
import sys

DEAR = {"asyncpg", "click", "flask", "opentelemetry", "psycopg", "psycopg_pool", "rich", "sqlalchemy"}
_PRINT_MODULES = (
    "import sys, asyncio; before = set(sys.modules); import {name}; print(*(set(sys.modules) - before))"
)


def modules_added_by(name: str) -> set[str]:
    program = _PRINT_MODULES.format(name=name)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_importing_onebeat_loads_no_driver_no_telemetry_and_no_command_line() -> None:
    added = modules_added_by("onebeat")
    assert not DEAR & {name.partition(".")[0] for name in added}
    assert "sqlite3" not in added
    assert not [name for name in added if name.startswith(("onebeat.cli", "onebeat.testing"))]
    assert {name for name in added if name.startswith("onebeat.stores")} <= {
        "onebeat.stores",
        "onebeat.stores.postgres",
        "onebeat.stores.postgres.targets",
        "onebeat.stores.ruling",
    }


def test_importing_onebeat_adds_few_modules_to_asyncio() -> None:
    strangers = {name for name in modules_added_by("onebeat") if not name.startswith("onebeat")}
    assert len(strangers) <= 25, sorted(strangers)


def test_the_pytest_plugin_loads_nothing_dear() -> None:
    """Every run of pytest imports it, wherever onebeat is installed."""
    added = modules_added_by("onebeat.testing.plugin")
    assert not DEAR & {name.partition(".")[0] for name in added}


def test_what_the_postgresql_package_offers_is_there_whenever_it_is_asked_for() -> None:
    from onebeat.stores import postgres

    for _ in range(2):  # its modules loaded between the two
        assert {name for name in postgres.__all__ if not hasattr(postgres, name)} == set()
        assert inspect.iscoroutinefunction(postgres.migrate)
    assert not hasattr(postgres, "nothing")
