"""What became of a tick, told in words."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from onebeat.insight.why import Known, explained
from onebeat.model import Tick, Verdict
from tests.rows import NOON, job, paused, record


def told_of(at: datetime, **known: Any) -> list[str]:
    fields: dict[str, Any] = {"record": None, "job": job(), "before": None, "after": None}
    return list(explained(Known(Tick("report", at), NOON, **(fields | known))))


def test_why_a_tick_without_a_row_is_told_as_far_as_it_is_known() -> None:
    hour = timedelta(hours=1)
    assert "ever registered" in told_of(NOON - hour, job=None)[0]
    assert "still to come" in told_of(NOON + hour)[0]
    assert told_of(NOON + hour)[1:] == ["Its schedule is cron('0 * * * *')."]
    assert told_of(NOON + hour, pause=paused()) == [
        "That is still to come.",
        "As things stand it will not run.",
        "ada paused the whole app at 2027-03-01 09:00:00Z, until resumed: stocktaking.",
        "Its schedule is cron('0 * * * *').",
    ]
    assert "first registered" in told_of(NOON - timedelta(days=2))[0]
    assert "paused then" in told_of(NOON - hour, pause=paused(until=NOON), before=record(NOON - hour))[0]
    assert "until 2027-03-01 12:00:00Z" in told_of(NOON - hour, pause=paused(until=NOON))[1]
    assert "paused" not in "".join(told_of(NOON - hour, job=job(paused_until=NOON + hour)))
    assert "history begins" in told_of(NOON - hour, after=record(NOON))[0]
    assert "no such tick" in told_of(NOON - hour, before=record(NOON - 2 * hour))[0]
    assert "Nobody has claimed it" in told_of(NOON - hour, job=job(watermark=None))[0]
    assert "nearest before" in told_of(NOON - hour, before=record(NOON - 2 * hour))[-1]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_why_knows_a_sentence_for_every_verdict(verdict: Verdict) -> None:
    assert told_of(NOON, record=record(NOON, verdict))[0].endswith("on web-1.")


def test_why_tells_of_a_row_what_there_is_and_nothing_else() -> None:
    """F-VERDICT"""
    bare = told_of(NOON, record=record(NOON))
    assert len(bare) == 2
    full = record(NOON, triggered=True, by="ada", reason="to see", trace_id="abc", attempt=2)
    told = told_of(NOON, record=full)
    assert told[0] == "It ran on web-1, attempt 2."
    assert "It was triggered by ada: to see." in told
    assert "Its trace is abc." in told
    replaced = told_of(NOON, record=record(NOON, Verdict.OVERLAPPED, provisional=True))
    assert replaced[-1] == "Whoever claims it after all replaces that."
