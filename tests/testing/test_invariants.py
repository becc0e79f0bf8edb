"""Each invariant says what is wrong with a story in which it is broken, and nothing of one that is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from onebeat.events import SchedulerStarted, TickEnded, TicksPassedOver
from onebeat.fleet import Buried
from onebeat.model import Answer, Bid, Outcome, Reason, Release, Replica, Ruling, Tick, Verdict
from onebeat.schedules.every import every
from onebeat.testing.clock import FakeClock
from onebeat.testing.faults import CALM, Faults
from onebeat.testing.invariants import (
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
    violations,
    won_in_order,
)
from onebeat.testing.story import Entry, SimulatedJob, Story

START = datetime(2026, 1, 1, tzinfo=UTC)
JOB = SimulatedJob("report", every(seconds=10))
LEASE = timedelta(seconds=30)


def tick(number: int) -> Tick:
    return Tick("report", START + timedelta(seconds=10 * number))


@dataclass
class Told:
    """A story told by hand: it begins at START and ends a minute later."""

    faults: Faults = CALM
    job: SimulatedJob = JOB
    story: Story = field(init=False)

    def __post_init__(self) -> None:
        self.story = Story(7, faults=self.faults, jobs=[self.job], replicas=2, timeline=FakeClock())
        self.story.closing_at = START + timedelta(seconds=60)
        for replica in "ab":
            started = SchedulerStarted(Replica("fleet", replica, replica), None, ("report",), (), None)
            self.story.report(replica, START, started)

    def won(self, number: int, replica: str = "a", *, fence: int | None = None) -> None:
        bid = Bid(tick(number), f"{replica}{number}", LEASE)
        answer = Answer(bid.tick, bid.token, Ruling.WON, START, fence=number if fence is None else fence)
        self.story.decided(replica, [bid], [answer])

    def ran(self, number: int, replica: str = "a", *, late: float = 0, takes: float | None = 1) -> None:
        begin = tick(number).scheduled_at + timedelta(seconds=late)
        entry = Entry(tick(number), replica, number, begin, begin)
        self.story.began(entry)
        if takes is not None:
            entry.ended = begin + timedelta(seconds=takes)
            self.ended(number, replica)

    def ended(
        self, number: int, replica: str, outcome: Outcome = Outcome.RAN, reason: Reason | None = None
    ) -> None:
        self.story.report(replica, START, TickEnded(tick(number), outcome, reason))

    def skipped(self, number: int, replica: str = "b", reason: Reason = Reason.CLAIMED) -> None:
        self.ended(number, replica, Outcome.SKIPPED, reason)

    def all_went_well(self) -> None:
        for number in range(1, 6):
            self.won(number)
            self.ran(number)
            self.story.released([Release(tick(number), f"a{number}", Verdict.RAN)])
            self.skipped(number)


def test_a_story_in_which_all_went_well_breaks_no_rule() -> None:
    told = Told()
    told.all_went_well()
    assert violations(told.story) == []
    check(told.story)


def test_the_seed_and_the_story_are_told_with_what_was_broken() -> None:
    told = Told()
    told.all_went_well()
    told.ran(3, "b")
    with pytest.raises(AssertionError) as raised:
        check(told.story)
    text = str(raised.value)
    assert "seed 7" in text
    assert "never_twice: report@00:00:30 started 2 times" in text
    assert "b begins report@00:00:30, fence 3" in text


def test_a_tick_started_twice_is_found() -> None:
    told = Told()
    told.ran(1, "a")
    told.ran(1, "b")
    assert len(never_twice(told.story)) == 1


def test_a_tick_won_after_a_later_one_is_found_unless_overlap_is_allowed() -> None:
    allowed = SimulatedJob("report", every(seconds=10), policy={"overlap": "allow"})
    for job, expected in ((JOB, 1), (allowed, 0)):
        told = Told(job=job)
        told.won(1)
        told.won(3)
        told.won(2, "b")
        assert len(won_in_order(told.story)) == expected


def test_a_run_beside_an_earlier_one_is_found_unless_its_lease_was_over_or_overlap_is_allowed() -> None:
    def told_by(job: SimulatedJob, late: float) -> Told:
        told = Told(job=job)
        for number, replica in ((1, "a"), (2, "b")):
            told.won(number, replica)
        told.ran(1, "a", takes=100)
        told.ran(2, "b", late=late)
        return told

    assert len(no_overlap(told_by(JOB, late=0).story)) == 1
    allowed = SimulatedJob("report", every(seconds=10), policy={"overlap": "allow"})
    assert no_overlap(told_by(allowed, late=0).story) == []


async def test_a_run_may_meet_an_earlier_one_whose_lease_had_lapsed_when_it_was_claimed() -> None:
    timeline = FakeClock()
    told = Told()
    told.story = Story(7, faults=CALM, jobs=[JOB], replicas=2, timeline=timeline)
    told.won(1, "a")
    await timeline.advance(LEASE - timedelta(seconds=1))
    told.won(3, "b")
    told.ran(1, "a", takes=100)
    told.ran(3, "b")
    assert len(no_overlap(told.story)) == 1
    told.story.wins.pop()
    await timeline.advance(seconds=1)
    told.won(3, "b")
    assert no_overlap(told.story) == []


def test_a_crashed_replica_runs_no_longer_than_it_lived() -> None:
    told = Told()
    told.won(1, "a")
    told.won(2, "b")
    told.ran(1, "a", takes=None)
    told.ran(2, "b")
    assert len(no_overlap(told.story)) == 0  # the timeline stands at the start: it "ended" there
    told.story.crashed["a"] = START + timedelta(seconds=21)
    assert len(no_overlap(told.story)) == 1


def test_a_run_before_its_instant_is_found_by_either_clock() -> None:
    told = Told()
    begin = tick(1).scheduled_at
    told.story.began(Entry(tick(1), "a", 1, begin, begin - timedelta(microseconds=1)))
    told.story.began(Entry(tick(2), "a", 1, begin, tick(2).scheduled_at))
    told.story.began(Entry(tick(1), "b", 1, begin - timedelta(seconds=5), begin))
    assert len(never_early(told.story)) == 2


def test_a_fence_that_does_not_grow_is_found_and_one_that_nobody_granted() -> None:
    told = Told()
    told.won(1, fence=5)
    told.won(2, fence=5)
    assert len(fences_grow(told.story)) == 1
    told = Told()
    told.won(1, fence=9)
    told.ran(1)
    assert len(fences_grow(told.story)) == 1


def test_a_claim_granted_again_to_the_same_token_is_one_win() -> None:
    told = Told()
    told.won(1)
    told.won(1)
    assert len(told.story.wins) == 1
    assert fences_grow(told.story) == []


def test_an_id_busy_at_the_end_is_found() -> None:
    told = Told()
    told.story.still_busy.append("report is blocked in the store")
    assert ids_free_at_the_end(told.story) == ["report is blocked in the store"]


def test_a_claim_never_given_back_is_found_unless_its_replica_crashed() -> None:
    told = Told()
    told.won(1)
    assert len(claims_given_back(told.story)) == 1
    told.story.crashed["a"] = START
    assert claims_given_back(told.story) == []


def test_a_tick_nobody_started_is_found() -> None:
    told = Told()
    told.all_went_well()
    del told.story.ledger[2]
    assert [text[:15] for text in none_missing(told.story)] == ["report@00:00:30"]


def test_a_tick_whose_loss_the_faults_explain_is_not() -> None:
    def missing_third(faults: Faults, *reports: tuple[Outcome, Reason]) -> list[str]:
        told = Told(faults=faults)
        told.all_went_well()
        del told.story.ledger[2]
        for outcome, reason in reports:
            told.ended(3, "b", outcome, reason)
        return none_missing(told.story)

    unlucky = Faults(lost_request=0.5)
    assert missing_third(unlucky)
    assert not missing_third(unlucky, (Outcome.CLAIM_ERROR, Reason.TIMEOUT))
    assert not missing_third(unlucky, (Outcome.SKIPPED, Reason.BUSY))
    assert missing_third(CALM, (Outcome.SKIPPED, Reason.BUSY))
    assert not missing_third(Faults(freezes=1))


def test_a_refusal_because_of_an_earlier_run_excuses_a_tick_only_if_there_was_one() -> None:
    """C-ORDER, C-LEASE: clocks apart by more than the pause between two runs."""
    told = Told()
    told.all_went_well()
    del told.story.ledger[2]
    told.ended(3, "b", Outcome.SKIPPED, Reason.OVERLAPPED)  # at START, when nothing ran
    assert none_missing(told.story)
    told.story.ledger[0].started = START
    assert none_missing(told.story) == []


def test_only_what_the_fleet_owes_is_missed() -> None:
    told = Told(faults=Faults(skew=12))
    assert [text[:15] for text in none_missing(told.story)] == [
        "report@00:00:20",
        "report@00:00:30",
        "report@00:00:40",
    ]
    slow = Told(job=SimulatedJob("report", every(seconds=10), takes=10))
    assert none_missing(slow.story) == []


def test_a_tick_with_two_outcomes_or_none_on_one_replica_is_found() -> None:
    told = Told()
    told.all_went_well()
    told.skipped(2, "b")
    assert len(one_outcome_each(told.story)) == 1
    told = Told()
    told.all_went_well()
    told.story.heard = [h for h in told.story.heard if h.replica != "b" or not is_of(h.event, 3)]
    assert len(one_outcome_each(told.story)) == 1
    told.story.report("b", START, TicksPassedOver("report", 1, tick(4).scheduled_at))
    assert one_outcome_each(told.story) == []


def is_of(event: object, number: int) -> bool:
    return isinstance(event, TickEnded) and event.tick == tick(number)


def test_a_run_without_an_outcome_is_found_unless_its_replica_crashed() -> None:
    told = Told()
    told.ran(1, "a", takes=None)
    assert one_outcome_each(told.story) == ["report@00:00:10 ran on a without an outcome"]
    told.story.crashed["a"] = START
    assert one_outcome_each(told.story) == []


def test_a_tick_without_a_verdict_is_found_once_a_later_one_has_ended() -> None:
    told = Told()
    told.story.verdicts = {tick(3): (Verdict.RAN, 1), tick(1): (Verdict.OVERLAPPED, 1), tick(4): (None, 1)}
    assert [text.split()[0] for text in every_tick_has_a_verdict(told.story)] == ["report@00:00:20"]
    told.story.verdicts[tick(2)] = Verdict.MISSED, 1
    assert every_tick_has_a_verdict(told.story) == []


def test_what_the_dead_held_needs_a_verdict_once_they_are_declared_dead() -> None:
    told = Told()
    told.won(1, "a")
    told.story.crashed["a"] = START
    told.story.verdicts = {tick(2): (Verdict.RAN, 1), tick(1): (None, 1)}
    assert every_tick_has_a_verdict(told.story) == []
    told.story.buried([Buried(tick(1), 1)])
    assert len(every_tick_has_a_verdict(told.story)) == 1


def test_a_verdict_that_the_ledger_denies_is_found() -> None:
    told = Told()
    told.ran(1)
    told.ran(2, takes=None)
    told.story.verdicts = {tick(number): (Verdict.RAN, 1) for number in (1, 2, 3)}
    assert len(verdicts_agree_with_the_ledger(told.story)) == 2
    told.story.verdicts = {tick(number): (Verdict.MISSED, 1) for number in (1, 2, 3)}
    assert len(verdicts_agree_with_the_ledger(told.story)) == 2
