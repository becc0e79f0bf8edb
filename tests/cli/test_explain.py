"""`onebeat explain` says what an expression means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onebeat import cron
from onebeat.schedules.explain import describe

Onebeat = Callable[..., Any]


def test_it_says_a_sentence_the_next_instants_and_what_the_change_of_the_clock_does(onebeat: Onebeat) -> None:
    """S-DST: a wall time that does not exist is not due, one that occurs twice is due at both instants."""
    words = ("explain", "30 2 * * SUN", "--tz", "Europe/Berlin", "--from", "2027-03-20", "--count", "2")
    assert onebeat(*words).lines == [
        describe(cron("30 2 * * SUN", tz="Europe/Berlin")),
        "  Sun 2027-03-21T02:30:00+01:00",
        "  Sun 2027-04-04T02:30:00+02:00",
        "warning: 02:30 does not exist on 2027-03-28 in Europe/Berlin; skipped",
        "warning: 02:30 occurs twice on 2027-10-31 in Europe/Berlin; due at both",
    ]


def test_it_says_when_there_is_no_next_instant(onebeat: Onebeat) -> None:
    assert onebeat("explain", "0 0 31 2 *").lines[-1] == "  never due again"


def test_a_count_of_none_leaves_the_instants_out(onebeat: Onebeat) -> None:
    assert len(onebeat("explain", "@daily", "--count", "0").lines) == 1


def test_h_is_drawn_from_the_job_that_is_named(onebeat: Onebeat) -> None:
    """S-MORE: what a text with H means is said of one job."""
    told = onebeat("explain", "H H * * *", "--extended", "--from", "2027-01-01", "--job", "report")
    assert told.lines[0] == "At 07:31 every day, UTC."
