"""The recorder: what happened, in the words a test asks in."""

from datetime import UTC, datetime, timedelta

import pytest

from onebeat.events import ClaimAnswered, Observer, RunEnded, TickEnded
from onebeat.model import Outcome, Reason, Tick
from onebeat.testing import Recorder

START = datetime(2026, 1, 1, tzinfo=UTC)
BROKEN = ValueError("broken")
RAN = TickEnded(Tick("report", START), Outcome.RAN)
FAILED = TickEnded(Tick("report", START + timedelta(hours=1)), Outcome.FAILED, error=BROKEN)
SKIPPED = TickEnded(Tick("mail", START), Outcome.SKIPPED, Reason.CLAIMED)
RUN = RunEnded("report", "1", FAILED.tick, Outcome.FAILED, None, START, 0.5, BROKEN)
CLAIM = ClaimAnswered(2, 1, 0.01)


def recorded() -> Recorder:
    recorder = Recorder()
    observer: Observer = recorder
    for event in (CLAIM, RAN, SKIPPED, RUN, FAILED):
        observer(event)
    return recorder


def test_it_is_told_at_once() -> None:
    assert Recorder.inline


def test_events_are_kept_in_order_and_by_kind() -> None:
    recorder = recorded()
    assert recorder.events == [CLAIM, RAN, SKIPPED, RUN, FAILED]
    assert recorder.of(ClaimAnswered) == [CLAIM]


def test_it_answers_for_one_job_or_for_all() -> None:
    recorder = recorded()
    assert recorder.ended() == [RAN, SKIPPED, FAILED]
    assert recorder.ended("mail") == [SKIPPED]
    assert recorder.runs("report") == [RUN]
    assert recorder.runs("mail") == []
    assert recorder.outcomes() == {Outcome.RAN: 1, Outcome.SKIPPED: 1, Outcome.FAILED: 1}
    assert recorder.outcomes("mail") == {Outcome.SKIPPED: 1}


def test_only_a_body_that_returned_has_run() -> None:
    assert recorded().ran("report") == [START]
    assert recorded().ran("mail") == []


def test_an_error_told_by_two_events_is_one_error() -> None:
    assert recorded().errors() == [BROKEN]


@pytest.mark.parametrize("ask", [Recorder.ended, Recorder.runs, Recorder.errors, Recorder.outcomes])
def test_after_clear_nothing_has_happened(ask: object) -> None:
    recorder = recorded()
    recorder.clear()
    assert callable(ask)
    assert not ask(recorder)
