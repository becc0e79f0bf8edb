"""What can be asked of a fleet, and in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from onebeat.control import (
    Target,
    checked_ahead,
    checked_ask,
    checked_until,
    run_in_words,
    unknown_job,
    withdrawal,
)
from onebeat.errors import InvalidJob, InvalidSetting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("got", ["", "x" * 201, "a\nb", "\0", "\x7f", "\ud800", None, 5])
def test_who_asks_and_why_are_texts_without_control_characters(got: object) -> None:
    """F-PAUSE: the error names which of the two."""
    with pytest.raises(InvalidJob, match="by: expected 1 to 200 characters"):
        checked_ask(got, "why")
    with pytest.raises(InvalidJob, match="reason: expected 1 to 200 characters"):
        checked_ask("who", got)


def test_200_characters_of_any_script_are_a_text() -> None:
    """F-PAUSE: quotes and percent signs too."""
    for text in ("é" * 200, "it's", 'a "b" 100%', "🙂", " "):
        checked_ask(text, text)


def test_an_end_is_given_with_its_zone_and_kept_in_utc() -> None:
    """S-KEY: a naive one is an error."""
    assert checked_until(None) is None
    until = checked_until(NOON.astimezone(timezone(timedelta(hours=-5))))
    assert until == NOON
    assert until is not None
    assert until.tzinfo is UTC
    for wrong in (NOON.replace(tzinfo=None), "2026-03-01", 5):
        with pytest.raises(InvalidJob, match="until"):
            checked_until(wrong)


def test_an_end_lies_ahead() -> None:
    """F-PAUSE: a pause that is over when it begins is a mistake."""
    checked_ahead(None, now=NOON)
    checked_ahead(NOON + timedelta.resolution, now=NOON)
    for past in (NOON, NOON - timedelta.resolution):
        with pytest.raises(InvalidSetting, match="an instant after 2026-03-01T12:00:00"):
            checked_ahead(past, now=NOON)


def test_a_target_is_a_job_a_prefix_or_the_app() -> None:
    """F-PAUSE: in words, and as the tables name it."""
    targets = (Target(job_id="a%"), Target(prefix="a_"), Target.app())
    assert [str(target) for target in targets] == ["job a%", "jobs a_…", "the whole app"]
    assert [(target.scope, target.name) for target in targets] == [
        ("job", "a%"),
        ("prefix", "a_"),
        ("prefix", ""),
    ]


@pytest.mark.parametrize(
    "wrong",
    [{}, {"job_id": "a", "prefix": "a"}, {"job_id": ""}, {"job_id": "x" * 201}, {"prefix": "a\n"}],
)
def test_a_target_is_exactly_one_of_them(wrong: dict[str, str]) -> None:
    """F-PAUSE: nonsense is refused at birth."""
    with pytest.raises((InvalidJob, InvalidSetting), match="target"):
        Target(**wrong)


def test_the_audit_and_the_history_tell_in_words() -> None:
    """F-PAUSE: what was cancelled, by whom a trigger was withdrawn, which job is unknown."""
    assert run_in_words("a", None) == "job a"
    assert run_in_words("a", NOON) == "job a at 2026-03-01T12:00:00+00:00"
    assert withdrawal("ada", "not today") == "cancelled by ada: not today"
    assert "some replica has registered, got 'a'" in str(unknown_job("a"))
