"""What the source may not contain, where no linter looks."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.project.pages import ROOT

PACKAGE = ROOT / "src" / "onebeat"
# What is there for tests waits for real threads and processes now and then, and may.
ENGINE = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "clock.py" and PACKAGE / "testing" not in path.parents
]
# Read the time, or wait by it. A clock that is handed in does both, so that a test can move it.
_TIME = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("asyncio", "sleep"),
    ("asyncio", "timeout"),
    ("asyncio", "timeout_at"),
    ("asyncio", "wait_for"),
    ("loop", "call_later"),
    ("loop", "call_at"),
    ("loop", "time"),
}
_UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|NotImplemented" r"Error)\b")
_OF_ONE_MACHINE = re.compile(r"(?<![\w.:~])/(home|root|work|Users)/|\bpypi\.(org|io)\b|pythonhosted")
_VAGUE = {"utils", "util", "helpers", "common", "manager", "base", "data", "info", "misc"}


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def _calls(path: Path) -> set[tuple[str, str]]:
    """What is called as name.name(…), `asyncio.sleep(0)` apart: it lets others run and waits for nothing."""
    return {
        (node.func.value.id, node.func.attr)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and ast.unparse(node) != "asyncio.sleep(0)"
    }


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_clock_reads_the_time_or_waits_by_it(path: Path) -> None:
    assert not _calls(path) & _TIME


def test_nothing_is_left_unfinished() -> None:
    assert not [path for path in _python() if _UNFINISHED.search(path.read_text())]


def test_nothing_names_one_persons_machine_or_registry() -> None:
    found = [path for path in _tracked() if _OF_ONE_MACHINE.search(path.read_text(errors="replace"))]
    assert not [path for path in found if path != Path(__file__)]


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert not [path for path in _python() if path.stem in _VAGUE or path.parent.name in _VAGUE]


def _python() -> list[Path]:
    return [path for path in _tracked() if path.suffix == ".py"]
