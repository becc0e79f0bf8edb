"""The facts in tests/cases/cron, one by one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import cron
from onebeat.schedules.parse import parse

_FOLDER = Path(__file__).parents[1] / "cases" / "cron"


def _facts(name: str) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert len(facts) > 100
    return facts


@pytest.mark.parametrize("grammar", ["standard", "extended"])
def test_the_instants_of_every_fact_follow_in_order(grammar: str) -> None:
    """S-CRON: texts are read as robfig/cron reads them, and as the wider grammar says."""
    wrong = []
    for fact in _facts(grammar):
        extended, seconds = grammar == "extended", len(fact["expr"].split()) == 6 and grammar == "extended"
        schedule = cron(fact["expr"], fact["tz"], extended=extended, seconds=seconds)
        moment: datetime | None = datetime.fromisoformat(fact["after"])
        due = []
        for _ in range(len(fact["next"]) + ("end" in fact)):
            assert moment is not None
            moment = schedule.next_after(moment)
            due.append(moment)
        expected = [datetime.fromisoformat(text) for text in fact["next"]]
        if due != expected + [None] * ("end" in fact):
            wrong.append((fact, due))
    assert wrong == []


def test_every_instant_of_the_facts_is_a_match_and_the_one_before_its_follower() -> None:
    """S-NEXT: matches and previous_before agree with next_after."""
    for fact in _facts("standard"):
        schedule = parse(fact["expr"], fact["tz"])
        due = [datetime.fromisoformat(text) for text in fact["next"]]
        assert all(schedule.matches(moment) for moment in due), fact
        assert [schedule.previous_before(moment) for moment in due[1:]] == due[:-1], fact


def test_every_invalid_text_is_refused() -> None:
    """S-CRON: what is not read on purpose is refused."""
    accepted = []
    for fact in _facts("invalid"):
        try:
            accepted.append((fact, parse(fact["expr"])))
        except InvalidSchedule:
            continue
    assert accepted == []
