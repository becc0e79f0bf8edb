"""Deaths of real processes, told by heartbeats: long before a lease ends, and never for an outage."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from onebeat.model import Verdict
from tests.processes.fleet import Fleet
from tests.processes.orders import PLAIN, Orders, orders_for
from tests.processes.records import Kind, Mark
from tests.processes.verdicts import denied, read_history, unaccounted
from tests.servers.postgres import Postgres

TTL = 3.0
PERIOD = timedelta(seconds=1)
MACHINE = timedelta(seconds=1)
"""What a busy machine may take on top: to schedule processes, not to decide anything."""


@pytest.fixture
def mortal(orders: list[Orders]) -> list[Orders]:
    """Three replicas whose leases last an hour, and whose death is noticed within seconds."""
    return [replace(order, ttl=TTL, timeout=3600.0) for order in orders[:3]]


def killed_in_a_run(fleet: Fleet) -> tuple[str, datetime]:
    """Whoever began the next run of the job in a thread, and when it was killed; once all are healthy."""
    time.sleep(TTL + 1)
    victim = fleet.replica_in_a_run(PLAIN)
    fleet.kill(victim)
    return victim, datetime.now(UTC)


def test_a_death_costs_a_job_a_time_to_live_and_a_period(mortal: list[Orders]) -> None:
    """F-BEAT, F-JUDGE, C-CRASH: its next tick runs elsewhere by then, an hour before the lease ends; the tick
    is lost, and every other has its verdict."""
    with Fleet(mortal) as fleet:
        victim, killed_at = killed_in_a_run(fleet)
        time.sleep(TTL + 4)
        story = fleet.stop()
    assert story.twice == [], fleet.logs()
    later = [
        entry.stamp
        for entry in story.ledger
        if entry.job_id == PLAIN and entry.mark is Mark.START and entry.stamp > killed_at
    ]
    assert min(later) <= killed_at + timedelta(seconds=TTL) + PERIOD + MACHINE, fleet.logs()
    history = read_history(mortal[0].store)
    lost = {tick for tick in story.lost_with(victim) if tick.job_id == PLAIN}
    assert {history[tick].verdict for tick in lost} == {Verdict.LOST}, fleet.logs()
    assert unaccounted(story.owed, history) == [], fleet.logs()
    assert denied(story.ledger, history) == []


def test_a_lost_tick_runs_again_once_where_its_job_asks_for_it(mortal: list[Orders]) -> None:
    """C-CRASH: on_lost="rerun": the next attempt, on another replica."""
    with Fleet([replace(order, on_lost="rerun") for order in mortal]) as fleet:
        victim, _ = killed_in_a_run(fleet)
        time.sleep(TTL + 4)
        story = fleet.stop()
    history = read_history(mortal[0].store)
    again = [row for row in history.values() if row.attempt > 1]
    assert [(row.tick.job_id, row.attempt, row.verdict) for row in again if row.tick.job_id == PLAIN] == [
        (PLAIN, 2, Verdict.RAN)
    ], fleet.logs()
    assert all(row.replica != victim for row in again)
    ends = [entry.tick for entry in story.ledger if entry.mark is Mark.END]
    assert len(ends) == len(set(ends))


def test_after_the_death_of_all_the_next_fleet_needs_two_times_to_live(
    mortal: list[Orders], tmp_path: Path
) -> None:
    """F-JUDGE: who starts anew must have been healthy itself before it judges."""
    with Fleet(mortal[:1]) as fleet:
        killed_in_a_run(fleet)
    folder = tmp_path / "reborn"
    folder.mkdir()
    reborn = [replace(order, folder=str(folder)) for order in mortal[:2]]
    with Fleet(reborn) as fleet:
        time.sleep(2 * TTL + 2)
        story = fleet.stop()
    first = min(e.stamp for e in story.ledger if e.job_id == PLAIN and e.mark is Mark.START)
    ready = min(note.stamp for note in story.notes if note.kind is Kind.READY)
    assert first <= ready + timedelta(seconds=2 * TTL) + PERIOD + MACHINE, fleet.logs()


def test_a_database_that_is_down_for_long_kills_nobody(tmp_path: Path, own_server: Postgres) -> None:
    """F-JUDGE: an outage of three times to live ends no lease and costs no replica its identity."""
    orders = [
        replace(order, ttl=TTL, timeout=3600.0)
        for order in orders_for(3, own_server.dsn(own_server.new_database()), tmp_path)
    ]
    with Fleet(orders) as fleet:
        time.sleep(TTL + 1)
        own_server.stop("immediate")
        time.sleep(3 * TTL)
        own_server.start()
        time.sleep(2 * TTL)
        story = fleet.stop()
    assert "declared dead" not in fleet.logs()
    assert "replicas have died" not in fleet.logs()
    assert story.twice == []
    history = read_history(orders[0].store)
    assert all(row.verdict is not Verdict.LOST for row in history.values())
    assert unaccounted(story.owed, history) == [], fleet.logs()
