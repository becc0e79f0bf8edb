"""`onebeat next` prints instants, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

Onebeat = Callable[..., Any]


def test_instants_stand_one_a_line_with_the_offset_of_their_zone(onebeat: Onebeat) -> None:
    result = onebeat(
        *("next", "0 9 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-27T00:00Z", "--count", "2")
    )
    assert result.lines == ["2027-03-27T09:00:00+01:00", "2027-03-28T09:00:00+02:00"]
    assert result.err == ""


def test_an_instant_without_an_offset_is_wall_time_of_the_zone(onebeat: Onebeat) -> None:
    words = ("next", "0 * * * *", "--tz", "Europe/Berlin", "--count", "1", "--from", "2027-01-01T08:30")
    assert onebeat(*words).lines == ["2027-01-01T09:00:00+01:00"]


def test_the_zone_in_front_of_the_text_is_the_one_shown(onebeat: Onebeat) -> None:
    words = ("next", "CRON_TZ=Asia/Tokyo 0 9 * * *", "--from", "2027-01-01T00:00", "--count", "1")
    assert onebeat(*words).lines == ["2027-01-01T09:00:00+09:00"]


def test_a_duration_is_shown_in_the_zone_asked_for(onebeat: Onebeat) -> None:
    words = ("next", "@every 6h", "--tz", "Asia/Tokyo", "--from", "2027-01-01T00:00Z", "--count", "1")
    assert onebeat(*words).lines == ["2027-01-01T15:00:00+09:00"]


def test_the_wider_grammar_is_read_on_request(onebeat: Onebeat) -> None:
    words = ("next", "30 0 0 * * 7", "--extended", "--seconds", "--from", "2027-01-01", "--count", "1")
    assert onebeat(*words).lines == ["2027-01-03T00:00:30+00:00"]


def test_without_from_it_looks_from_now(onebeat: Onebeat) -> None:
    (line,) = onebeat("next", "* * * * *", "--count", "1").lines
    assert abs((datetime.fromisoformat(line) - datetime.now().astimezone()).total_seconds()) <= 61


def test_json_is_one_array_of_texts(onebeat: Onebeat) -> None:
    result = onebeat("next", "@daily", "--from", "2027-01-01", "--count", "2", "--json")
    assert json.loads(result.out) == ["2027-01-02T00:00:00+00:00", "2027-01-03T00:00:00+00:00"]


def test_a_day_that_never_comes_prints_nothing(onebeat: Onebeat) -> None:
    """S-NEXT: 31 February answers None at once."""
    result = onebeat("next", "0 0 31 2 *")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_what_the_zone_cannot_show_is_shown_in_utc(onebeat: Onebeat) -> None:
    """S-NEXT: the last instants of the year 9999 are in the next one further east."""
    for command in ("next", "explain"):
        words = (command, "@every 5s", "--tz", "Asia/Tokyo", "--from", "9999-12-31T23:59:55", "--count", "1")
        assert "9999-12-31T15:00:00+00:00" in onebeat(*words).lines[-1]


def test_h_is_drawn_from_the_job_that_is_named(onebeat: Onebeat) -> None:
    """S-MORE: the instants of a text with H are those of one job."""
    words = ("next", "H H * * *", "--extended", "--from", "2027-01-01", "--count", "1")
    assert onebeat(*words, "--job", "report").lines == ["2027-01-01T07:31:00+00:00"]
    unbound = onebeat(*words)
    assert unbound.code != 0
    assert "--job" in unbound.err
