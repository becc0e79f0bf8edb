"""`module:attr` finds a scheduler, or says in one line why it does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from onebeat import Scheduler
from onebeat.cli.application import load_scheduler

Write = Callable[[str], str]


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Write]:
    """Writes a module into the current folder; gives its name, which no other test uses."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = f"app_{abs(hash(request.node.nodeid))}"

    def write(text: str) -> str:
        Path(f"{name}.py").write_text(text)
        return name

    yield write
    sys.modules.pop(name, None)


def refusal(name: str) -> str:
    with pytest.raises(click.UsageError) as caught:
        load_scheduler(name)
    return caught.value.message


def test_a_scheduler_is_found_in_a_module_of_the_current_folder(module: Write) -> None:
    name = module("from onebeat import Scheduler\nscheduler = Scheduler()\n")
    assert isinstance(load_scheduler(f"{name}:scheduler"), Scheduler)


def test_an_attribute_may_lie_deeper(module: Write) -> None:
    name = module("from onebeat import Scheduler\nclass App:\n    scheduler = Scheduler()\n")
    assert isinstance(load_scheduler(f"{name}:App.scheduler"), Scheduler)


@pytest.mark.parametrize(
    "name", ["app", "app:", ":scheduler", "", ".app:scheduler", "./app:scheduler", "a..b:c"]
)
def test_a_name_without_its_two_halves_is_refused(name: str) -> None:
    assert refusal(name) == f"expected module:attr, such as app:scheduler, got {name!r}"


def test_a_module_that_is_not_there_is_named() -> None:
    assert refusal("not_there.at_all:scheduler") == "no module named 'not_there' here or on sys.path"


def test_a_module_that_fails_to_import_is_told_with_the_line(module: Write) -> None:
    name = module("\n\nundefined_name\n")
    expected = (
        f"module '{name}' fails to import: {name}.py:3: NameError: name 'undefined_name' is not defined"
    )
    assert refusal(f"{name}:scheduler") == expected


def test_a_module_that_needs_an_absent_one_is_told_with_the_line(module: Write) -> None:
    name = module("import not_there\n")
    assert f"{name}.py:1: ModuleNotFoundError: No module named 'not_there'" in refusal(f"{name}:scheduler")


def test_a_module_that_exits_is_refused(module: Write) -> None:
    assert "SystemExit: 3" in refusal(f"{module('raise SystemExit(3)')}:scheduler")


def test_a_module_that_is_no_python_is_told_with_the_line(module: Write) -> None:
    assert f"{(name := module('def'))}.py" in refusal(f"{name}:scheduler")


def test_an_absent_attribute_is_named(module: Write) -> None:
    name = module("")
    assert refusal(f"{name}:scheduler") == f"module {name!r} has no attribute 'scheduler'"


def test_what_is_no_scheduler_is_refused(module: Write) -> None:
    name = module("scheduler = 3\n")
    assert refusal(f"{name}:scheduler") == f"{name}:scheduler: expected a Scheduler, got int"


@pytest.mark.parametrize("error", ["RuntimeError", "SystemExit"])
def test_an_attribute_that_raises_is_told_with_the_line(module: Write, error: str) -> None:
    name = module(f"def __getattr__(name):\n    raise {error}('no ' + name)\n")
    assert refusal(f"{name}:app") == f"{name}:app: {name}.py:2: {error}: no app"
