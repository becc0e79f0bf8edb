"""Deaths of real processes, told by heartbeats: long before a lease ends, and never for an outage."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from onebeat.model import Verdict
from tests.processes import accounting
from tests.processes.asking import cancel, trigger
from tests.processes.fleet import Fleet, wait_for
from tests.processes.orders import BLOCKING, ENDLESS, LONG, PLAIN, SELDOM, Orders, orders_for
from tests.processes.records import Kind, Mark
from tests.processes.verdicts import assert_accounted, denied, lost, read_history, unaccounted
from tests.servers.postgres import Postgres

TTL = 3.0
PERIOD = timedelta(seconds=1)
MACHINE = timedelta(seconds=1)
"""What a busy machine may take on top: to schedule processes, not to decide anything."""
UNTIL_HEALTHY = TTL + 1


@pytest.fixture
def mortal(orders: list[Orders]) -> list[Orders]:
    """Three replicas whose leases last an hour, and whose death is noticed within seconds."""
    return [replace(order, ttl=TTL, timeout=3600.0) for order in orders[:3]]


def killed_in_a_run(fleet: Fleet, job_id: str = PLAIN) -> tuple[str, datetime]:
    """Whoever began the job's next run, in a thread, and when it was killed; once all are healthy."""
    time.sleep(UNTIL_HEALTHY)
    victim = fleet.replica_in_a_run(job_id)
    fleet.kill(victim)
    return victim, datetime.now(UTC)


def test_a_death_costs_a_job_a_time_to_live_and_a_period(mortal: list[Orders]) -> None:
    """F-BEAT, F-JUDGE, C-CRASH: its next tick runs elsewhere by then, an hour before the lease ends; the tick
    is lost, and every other has its verdict."""
    with Fleet(mortal) as fleet:
        victim, killed_at = killed_in_a_run(fleet)
        time.sleep(TTL + 3)
        story = fleet.stop()
    assert story.twice == [], fleet.logs()
    later = [entry.stamp for entry in story.starts(PLAIN) if entry.stamp > killed_at]
    assert min(later) <= killed_at + timedelta(seconds=TTL) + PERIOD + MACHINE, fleet.logs()
    history = read_history(mortal[0].store)
    assert story.lost_with(victim) <= lost(history) <= story.held_by(victim), fleet.logs()
    assert PLAIN in {tick.job_id for tick in lost(history)}, fleet.logs()
    assert unaccounted(story.owed, history) == [], fleet.logs()
    assert denied(story.ledger, history) == []


def test_a_lost_tick_runs_again_once_where_its_job_asks_for_it(mortal: list[Orders]) -> None:
    """C-CRASH: on_lost="rerun": the next attempt, on another replica, for the job's next tick is far."""
    with Fleet([replace(order, on_lost="rerun", too=(SELDOM,)) for order in mortal]) as fleet:
        victim, _ = killed_in_a_run(fleet, SELDOM)
        time.sleep(TTL + 3)
        story = fleet.stop()
    history = read_history(mortal[0].store)
    again = [row for row in history.values() if row.attempt > 1]
    assert [(row.attempt, row.verdict) for row in again if row.tick.job_id == SELDOM] == [(2, Verdict.RAN)], (
        fleet.logs()
    )
    assert all(row.replica != victim for row in again)
    ends = [entry.tick for entry in story.ledger if entry.mark is Mark.END and entry.replica != victim]
    assert len(ends) == len(set(ends))
    assert unaccounted(story.owed, history) == [], fleet.logs()
    assert denied(story.ledger, history) == []


def test_after_the_death_of_all_the_next_fleet_needs_two_times_to_live(
    mortal: list[Orders], tmp_path: Path
) -> None:
    """F-JUDGE: who starts anew must have been healthy itself before it judges."""
    with Fleet(mortal) as fleet:
        fleet.replica_in_a_run(PLAIN)  # on leaving, all are killed
    folder = tmp_path / "reborn"
    folder.mkdir()
    reborn = [replace(order, folder=str(folder)) for order in mortal[:2]]
    with Fleet(reborn) as fleet:
        time.sleep(2 * TTL + 2)
        story = fleet.stop()
    first = min(entry.stamp for entry in story.starts(PLAIN))
    ready = min(note.stamp for note in story.notes if note.kind is Kind.READY)
    assert first <= ready + timedelta(seconds=2 * TTL) + PERIOD + MACHINE, fleet.logs()
    history = read_history(mortal[0].store)
    assert PLAIN in {tick.job_id for tick in lost(history)}, fleet.logs()
    assert unaccounted(story.owed, history) == [], fleet.logs()


def test_whoever_was_frozen_for_long_gives_up_what_was_taken_over_and_nothing_else(
    mortal: list[Orders],
) -> None:
    """F-LOST, F-JUDGE: of two runs that lay frozen for three times to live, the one whose job went on
    elsewhere is cancelled; the other lives on, under its replica's new identity, and hears what is asked."""
    store = mortal[0].store
    with Fleet([replace(order, too=(ENDLESS,)) for order in mortal]) as fleet:
        time.sleep(UNTIL_HEALTHY)
        kept = trigger(store, LONG)
        [keeper] = wait_for(lambda: fleet.story().starts(LONG), "the trigger", fleet.logs)
        loser = fleet.story().starts(ENDLESS)[0]
        frozen = {keeper.replica, loser.replica}
        for label in frozen:
            fleet.freeze(label)
        time.sleep(3 * TTL)
        for label in frozen:
            fleet.thaw(label)
        [lost_end] = wait_for(lambda: fleet.story().ends(ENDLESS), "the run taken over to end", fleet.logs)
        time.sleep(TTL)
        assert fleet.story().ends(LONG) == [], fleet.logs()
        assert cancel(store, LONG) == [kept]
        [kept_end] = wait_for(lambda: fleet.story().ends(LONG), "the run kept to be cancelled", fleet.logs)
        story = fleet.stop()
    assert (lost_end.tick, lost_end.replica, lost_end.cause) == (loser.tick, loser.replica, "LeaseLost")
    assert (kept_end.replica, kept_end.cause) == (keeper.replica, "Cancelled")
    assert story.twice == [], fleet.logs()
    history = read_history(store)
    assert history[loser.tick].verdict is Verdict.LOST
    assert history[kept].verdict is Verdict.CANCELLED
    assert history[kept].replica == keeper.replica
    assert history[kept].replica_id not in {note.identity for note in story.notes}
    assert unaccounted(story.owed, history) == [], fleet.logs()
    assert denied(story.ledger, history) == []


def test_a_body_that_blocks_its_loop_for_long_keeps_its_claim(mortal: list[Orders]) -> None:
    """F-BEAT: the heart beats on a thread of its own for three times to live; nobody is declared dead."""
    with Fleet([replace(order, too=(BLOCKING,)) for order in mortal]) as fleet:
        [first] = wait_for(lambda: fleet.story().ends(BLOCKING), "the body to let go", fleet.logs)
        wait_for(lambda: fleet.story().ends(BLOCKING)[1:], "the job to go on", fleet.logs)
        story = fleet.stop()
    assert accounting.overlaps(BLOCKING, story.ledger) == []
    assert story.twice == []
    assert read_history(mortal[0].store)[first.tick].verdict is Verdict.RAN
    assert_accounted(story.owed, story.ledger, mortal[0].store, fleet.logs())


def test_a_database_that_is_down_for_long_kills_nobody(tmp_path: Path, own_server: Postgres) -> None:
    """F-JUDGE: an outage of three times to live ends no lease and costs no replica its identity."""
    orders = [
        replace(order, ttl=TTL, timeout=3600.0, too=(ENDLESS,))
        for order in orders_for(3, own_server.dsn(own_server.new_database()), tmp_path)
    ]
    with Fleet(orders) as fleet:
        time.sleep(UNTIL_HEALTHY)
        own_server.stop("immediate")
        time.sleep(3 * TTL)
        own_server.start()
        time.sleep(2 * TTL)
        story = fleet.stop()
    assert "declared dead" not in fleet.logs()
    assert "replicas have died" not in fleet.logs()
    assert story.twice == []
    assert len(story.starts(ENDLESS)) == 1, "its lease was lost"
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())
