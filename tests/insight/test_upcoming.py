"""When a job comes next, told from its row alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from onebeat.history import END_OF_TIME, JobState
from onebeat.insight.upcoming import next_of

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
JOB = JobState("report", "every(hours=1)", None, NOON, NOON, None, None, None, None, None, 0)


def test_a_job_comes_next_after_the_moment() -> None:
    assert next_of(JOB, NOON) == NOON + HOUR


def test_a_paused_job_comes_next_when_its_pause_is_over() -> None:
    """F-PAUSE: its end is no part of it."""
    assert next_of(replace(JOB, paused_until=NOON + 3 * HOUR), NOON) == NOON + 3 * HOUR
    assert next_of(replace(JOB, paused_until=NOON + 2.5 * HOUR), NOON) == NOON + 3 * HOUR
    assert next_of(replace(JOB, paused_until=END_OF_TIME), NOON) is None


def test_of_a_schedule_that_cannot_be_read_nothing_is_told() -> None:
    assert next_of(replace(JOB, schedule=None), NOON) is None
    assert next_of(replace(JOB, schedule="Elsewhere()"), NOON) is None
    assert next_of(replace(JOB, schedule="cron('0 0 31 2 *')"), NOON) is None
