"""The reference says what the code says, both ways."""

from __future__ import annotations

import inspect
import re
from typing import get_args
from unittest.mock import Mock

import click
import pytest
from opentelemetry.metrics import Meter

import onebeat
import onebeat.testing
from onebeat.cli.commands import commands
from onebeat.engine.job import PolicyKeywords
from onebeat.events import Event
from onebeat.observers.instruments import Instruments
from onebeat.testing import plugin
from tests.project.pages import REFERENCE, section, table_names


def _names() -> list[str]:
    return commands.list_commands(click.Context(commands))


def _options(command: click.Command) -> set[str]:
    return {
        max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    }


def test_every_public_name_is_explained_and_no_other() -> None:
    assert table_names(section(REFERENCE / "api.md", "Names")) == set(onebeat.__all__)


def test_every_method_of_a_scheduler_is_explained_and_no_other() -> None:
    explained = table_names(section(REFERENCE / "api.md", "`Scheduler`"))
    methods = {name.partition("(")[0] for name in explained if " " not in name.partition("(")[0]}
    assert methods == {name for name in dir(onebeat.Scheduler) if not name.startswith("_")}


def test_what_a_run_is_said_to_have_it_has() -> None:
    explained = table_names(section(REFERENCE / "api.md", "`Run`"))
    assert {name.partition("(")[0] for name in explained} <= set(dir(onebeat.Run))


def test_every_public_name_for_tests_is_explained_and_no_other() -> None:
    before_the_chapters = (REFERENCE / "testing.md").read_text().partition("\n## ")[0]
    explained = table_names(before_the_chapters)
    fixtures = {name for name in explained if name.startswith("onebeat_")}
    assert explained - fixtures == set(onebeat.testing.__all__)
    assert fixtures == {name for name in vars(plugin) if name.startswith("onebeat_")}


@pytest.mark.parametrize("name", _names())
def test_every_option_of_a_command_is_explained_and_no_other(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    assert table_names(section(REFERENCE / "cli.md", f"`onebeat {name}")) == _options(command)


def test_every_command_is_explained_and_no_other() -> None:
    text = (REFERENCE / "cli.md").read_text()
    explained = {line.split()[2].strip("`") for line in text.splitlines() if line.startswith("## `onebeat ")}
    assert explained == set(_names())


def test_every_setting_is_explained_and_no_other() -> None:
    explained = table_names(section(REFERENCE / "settings.md", "Of a scheduler"))
    assert explained >= set(inspect.signature(onebeat.Scheduler).parameters)
    assert explained - set(inspect.signature(onebeat.Scheduler).parameters) <= {"default"}


def test_every_policy_keyword_is_explained_and_no_other() -> None:
    assert table_names(section(REFERENCE / "settings.md", "Of a job")) == set(PolicyKeywords.__annotations__)


def test_every_event_is_explained_and_no_other() -> None:
    explained = re.findall(r"^### `(\w+)`$", (REFERENCE / "events.md").read_text(), re.MULTILINE)
    assert sorted(explained) == sorted(kind.__name__ for kind in get_args(Event))


def test_every_metric_is_explained_and_no_other() -> None:
    meter = Mock(spec=Meter)
    Instruments(meter)
    created = {call.args[0] for call in meter.method_calls}
    assert table_names(section(REFERENCE / "metrics.md", "Metrics")) == created
