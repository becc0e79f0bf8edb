"""A thousand simulated fleets on a right store, and a few dozen on each wrong one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from onebeat.engine.admission import Admission
from onebeat.engine.desk import Desk
from onebeat.engine.runs import Runs
from onebeat.schedules.every import every
from onebeat.testing.faults import CALM, SKEWED, STORMY, Faults
from onebeat.testing.fleet import Fleet, MakeStore
from onebeat.testing.invariants import (
    Invariant,
    check,
    claims_given_back,
    every_tick_has_a_verdict,
    fences_grow,
    ids_free_at_the_end,
    never_early,
    never_twice,
    no_overlap,
    none_missing,
    one_outcome_each,
    verdicts_agree_with_the_ledger,
    won_in_order,
)
from onebeat.testing.story import SimulatedJob
from tests.testing import broken

JOBS = (
    SimulatedJob("steady", every(seconds=1), takes=0.4),
    SimulatedJob("long", every(seconds=2), takes=3.5),
    SimulatedJob("loose", every(seconds=3), takes=4, policy={"overlap": "allow"}),
)
BROKEN_LINES = Faults(lost_request=0.15, lost_answer=0.25)
KINDS = (
    CALM,
    SKEWED,
    STORMY,
    BROKEN_LINES,
    Faults(skew=2, drift=0.01, lost_request=0.1, lost_answer=0.2),
    Faults(deploys=3),
    Faults(skew=4, crashes=2, deploys=1),
    Faults(skew=8, freezes=4, stall=0.1),
    Faults(outages=3, slow=0.3, slow_by=3),
    Faults(crashes=1, slow=0.3, slow_by=4, lost_answer=0.1),
)


def faults_of(seed: int) -> Faults:
    """Every second seed is of a pure kind, the others mix as they like."""
    if seed % 2:
        return KINDS[seed // 2 % len(KINDS)]
    chance = Random(seed)
    return Faults(
        skew=chance.choice((0, 1, 6)),
        drift=chance.choice((0, 0.02)),
        freezes=chance.randrange(4),
        stall=chance.choice((0, 0, 0.1)),
        crashes=chance.randrange(3),
        deploys=chance.randrange(3),
        outages=chance.randrange(2),
        slow=chance.choice((0, 0.2)),
        lost_request=chance.choice((0, 0.1)),
        lost_answer=chance.choice((0, 0.2)),
    )


@pytest.mark.parametrize("hundred", range(10))
def test_whatever_befalls_a_fleet_every_rule_holds(hundred: int) -> None:
    """C-ONE, C-ORDER, C-LEASE, C-TOKEN, C-CRASH: the rules hold in a thousand seeded fleets."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        check(Fleet(seed, JOBS, replicas=2 + seed % 3, seconds=7, faults=faults_of(seed)).run())


def test_the_same_seed_tells_the_same_story() -> None:
    for seed in range(5):
        one, other = (Fleet(seed, JOBS, faults=STORMY).run() for _ in range(2))
        assert one.lines == other.lines
    assert one.lines != Fleet(seed + 1, JOBS, faults=STORMY).run().lines


def test_in_a_calm_fleet_every_tick_of_a_quick_job_runs_exactly_once() -> None:
    story = Fleet(1, JOBS[:1], seconds=60).run()
    owed = set(story.owed(JOBS[0]))
    assert len(owed) == 58
    assert owed <= {entry.tick for entry in story.ledger}
    assert len({entry.tick for entry in story.ledger}) == len(story.ledger)


def test_every_kind_of_misfortune_befalls_some_fleet() -> None:
    told = "\n".join("\n".join(Fleet(seed, JOBS, faults=STORMY).run().lines) for seed in range(20))
    for happened in (
        "freezes for",
        "crashes",
        "is told to stop",
        "the store is down",
        "skipped claimed",
        "skipped overlapped",
        "skipped busy",
        "claim_error unavailable",
        "claim_error timeout",
        "passes over",
    ):
        assert happened in told


@pytest.mark.parametrize(
    ("store", "faults", "invariant"),
    [
        (broken.LocksByName, SKEWED, never_twice),
        (broken.LocksByName, Faults(stall=0.1), never_twice),
        (broken.KeepsOnlyTheLastTick, Faults(stall=0.1), never_twice),
        (broken.KeepsOnlyTheLastTick, Faults(stall=0.1), won_in_order),
        (broken.TakesNoLease, CALM, no_overlap),
        (broken.TakesNoLease, STORMY, no_overlap),
        (broken.TrustsFastClocks, Faults(skew=20), never_early),
        (broken.StandsStillAtOneFence, CALM, fences_grow),
        (broken.NeverReleases, CALM, ids_free_at_the_end),
        (broken.NeverReleases, CALM, none_missing),
        (broken.NeverReleases, SKEWED, none_missing),
        (broken.ForgetsTokens, BROKEN_LINES, none_missing),
        (broken.WritesNothingOfTheMissed, STORMY, every_tick_has_a_verdict),
        (broken.CallsEveryEndARun, STORMY, verdicts_agree_with_the_ledger),
    ],
)
def test_a_store_broken_on_purpose_is_found_out(
    store: MakeStore, faults: Faults, invariant: Invariant
) -> None:
    assert any(
        invariant(Fleet(seed, JOBS, seconds=10, faults=faults, store=store).run()) for seed in range(36)
    )


def test_an_engine_that_keeps_an_outcome_to_itself_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tell = Runs._end

    def tell_the_odd_ones(runs: Runs, admission: Admission, *rest: Any) -> None:
        if admission.tick is not None and admission.tick.scheduled_at.second % 2:
            tell(runs, admission, *rest)

    monkeypatch.setattr(Runs, "_end", tell_the_odd_ones)
    assert one_outcome_each(Fleet(1, JOBS).run())


def test_an_engine_that_keeps_what_it_won_too_late_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-CANCEL: a claim given up may have landed all the same."""
    monkeypatch.setattr(Desk, "_take_back", lambda desk, undecided: None)
    slow = Faults(slow=0.3, slow_by=4)
    assert any(claims_given_back(Fleet(seed, JOBS, faults=slow).run()) for seed in range(36))
