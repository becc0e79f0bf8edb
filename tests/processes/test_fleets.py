"""Fleets of real processes on one store, whole and in trouble: never twice, and none missing but by rule."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from tests.processes import accounting
from tests.processes.fleet import Fleet, assert_each_tick_ran_once
from tests.processes.orders import PLAIN, QUICK, Orders, orders_for, with_skews
from tests.processes.verdicts import assert_accounted

IN_THE_MIDST_OF_THE_BODY = 0.1


def test_every_tick_runs_once(orders: list[Orders], span: float) -> None:
    """C-ONE, D-PG, D-LITE: first starts all at once where nothing is yet, and not one statement fails."""
    with Fleet(orders) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert_each_tick_ran_once(story, fleet.logs())
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())
    for job_id in (QUICK, PLAIN):
        assert accounting.overlaps(job_id, story.ledger) == []
        assert accounting.fences_fallen(job_id, story.ledger) == []
    assert "ERROR" not in fleet.logs()


def test_a_replica_frozen_in_a_run_costs_what_its_lease_blocks(
    orders: list[Orders], span: float, rounds: int
) -> None:
    """C-LEASE, W-LATE: its lease ends while it is frozen; on waking it takes no tick of the others'."""
    frozen = set()
    with Fleet(orders) as fleet:
        for _ in range(rounds):
            victim = fleet.replica_in_a_run(PLAIN)
            time.sleep(IN_THE_MIDST_OF_THE_BODY)
            fleet.freeze(victim)
            time.sleep(4.6)
            fleet.thaw(victim)
            frozen.add(victim)
            time.sleep(span / 2 / rounds)
        story = fleet.stop()
    assert story.twice == []
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())
    held = {entry.tick for entry in story.ledger if entry.replica in frozen and entry.job_id == PLAIN}
    assert set(story.missing) <= story.blocked_by(held), fleet.logs()


def test_a_replica_killed_in_a_run_costs_that_run_and_what_its_lease_blocks(
    orders: list[Orders], span: float
) -> None:
    """C-CRASH: nothing but the run in flight and the ticks refused for its lease."""
    with Fleet(orders) as fleet:
        time.sleep(span / 4)
        killed = fleet.replica_in_a_run(PLAIN)
        time.sleep(IN_THE_MIDST_OF_THE_BODY)
        fleet.kill(killed)
        time.sleep(span)
        story = fleet.stop()
    assert story.twice == []
    lost = story.lost_with(killed)
    # With a minute to live the dead has not been told yet: test_recovery.py waits for that.
    assert_accounted(set(story.owed) - lost, story.ledger, orders[0].store, fleet.logs())
    assert {tick.job_id for tick in lost} == {PLAIN}
    assert lost <= set(story.missing) <= lost | story.blocked_by(lost), fleet.logs()


def test_clocks_a_fifth_of_a_second_apart_cost_nothing(orders: list[Orders], span: float) -> None:
    """C-ONE: whoever leads wins more, and that is all."""
    with Fleet(with_skews(orders, 0.2, 0.1)) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert_each_tick_ran_once(story, fleet.logs())
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())


def test_clocks_three_seconds_apart_cost_at_most_what_the_leader_overtook(
    orders: list[Orders], span: float
) -> None:
    """C-ORDER, C-EARLY: a lead of several periods, and a run that meets a later tick."""
    with Fleet(with_skews(orders, 3.0, 1.5)) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert story.owed
    assert story.twice == []
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())
    assert set(story.missing) <= story.overtaken, fleet.logs()


def test_replicas_that_share_nothing_are_convicted_by_the_account(tmp_path: Path) -> None:
    """The same fleet, each replica with a file of its own: so the tests above can fail."""
    orders = orders_for(2, "", tmp_path)
    apart = [replace(order, store=f"sqlite:///{tmp_path / order.label}.db") for order in orders]
    with Fleet(apart) as fleet:
        time.sleep(3)
        story = fleet.stop()
    assert story.owed
    assert set(story.twice) >= set(story.owed)
