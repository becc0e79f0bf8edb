"""Fleets of real processes on one store: every tick exactly once, none missing."""

from __future__ import annotations

import time
from pathlib import Path

from tests.processes import accounting
from tests.processes.fleet import Fleet, Story
from tests.processes.orders import PLAIN, QUICK, orders_for


def assert_every_tick_ran_once(story: Story, logs: str) -> None:
    assert story.owed
    assert story.twice == []
    assert story.missing == [], logs
    assert [accounting.overlaps(job_id, story.ledger) for job_id in (QUICK, PLAIN)] == [[], []]
    assert [accounting.fences_fallen(job_id, story.ledger) for job_id in (QUICK, PLAIN)] == [[], []]


def test_eight_replicas_on_postgresql_run_every_tick_once(database: str, tmp_path: Path, span: float) -> None:
    """C-ONE, D-PG: eight first starts at once on an empty database, and not one statement fails."""
    with Fleet(orders_for(8, database, tmp_path)) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert_every_tick_ran_once(story, fleet.logs())
    assert accounting.outages(story.notes) == []
    assert "ERROR" not in fleet.logs()


def test_four_replicas_on_one_file_run_every_tick_once(file: str, tmp_path: Path, span: float) -> None:
    """C-ONE, D-LITE: four first starts at once without a file, and not one statement fails."""
    with Fleet(orders_for(4, file, tmp_path)) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert_every_tick_ran_once(story, fleet.logs())
    assert accounting.outages(story.notes) == []
    assert "ERROR" not in fleet.logs()
