"""The account convicts: doubles, gaps, overlaps, and excuses that do not hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from onebeat import Tick
from tests.processes import accounting
from tests.processes.records import Entry, Kind, Mark, Note

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=3)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def tick(second: float, job_id: str = "quick") -> Tick:
    return Tick(job_id, at(second))


def entry(
    second: float, mark: Mark, replica: str = "r0", *, stamp: float | None = None, fence: int = 1
) -> Entry:
    return Entry(
        job_id="quick",
        scheduled_at=at(second),
        replica=replica,
        mark=mark,
        stamp=at(second if stamp is None else stamp),
        fence=fence,
    )


def ran(second: float, replica: str = "r0", *, fence: int = 1, took: float = 0.1) -> list[Entry]:
    return [
        entry(second, Mark.START, replica, fence=fence),
        entry(second, Mark.END, replica, stamp=second + took, fence=fence),
    ]


def note(
    kind: Kind, stamp: float, replica: str = "r0", *, shown: float | None = None, took: float = 0.0
) -> Note:
    return Note(
        replica=replica, kind=kind, stamp=at(stamp), shown=at(stamp if shown is None else shown), took=took
    )


def skipped(
    second: float, reason: str, replica: str = "r0", *, claimed_by: str = "", stamp: float | None = None
) -> Note:
    return Note(
        replica=replica,
        kind=Kind.TICK,
        stamp=at(second if stamp is None else stamp),
        shown=at(second),
        job_id="quick",
        scheduled_at=at(second),
        outcome="skipped",
        reason=reason,
        claimed_by=claimed_by,
    )


def test_owed_is_what_every_replica_saw_from_start_to_stop() -> None:
    notes = [note(Kind.READY, 0.2, "r0"), note(Kind.READY, 1.7, "r1")]
    notes += [note(Kind.STOPPING, 4.7, "r0"), note(Kind.STOPPING, 4.8, "r1")]
    assert accounting.owed(["quick"], notes) == [tick(2), tick(3), tick(4)]


def test_owed_goes_by_each_replicas_own_clock() -> None:
    notes = [note(Kind.READY, 0.2, "r0"), note(Kind.READY, 0.2, "r1", shown=3.2)]
    notes += [note(Kind.STOPPING, 6.7, "r0"), note(Kind.STOPPING, 6.7, "r1", shown=9.7)]
    assert accounting.owed(["quick"], notes) == [tick(4), tick(5), tick(6)]


def test_a_tick_on_the_very_instant_of_the_start_or_the_stop_is_not_owed() -> None:
    assert accounting.owed_between(["quick"], at(1), at(3)) == [tick(2)]


def test_a_body_that_started_on_two_replicas_is_found_out() -> None:
    assert accounting.twice(ran(1, "r0") + ran(1, "r1") + ran(2)) == [tick(1)]


def test_a_body_that_started_twice_on_one_replica_is_found_out() -> None:
    assert accounting.twice(ran(1) + ran(1)) == [tick(1)]


def test_a_body_that_never_ended_is_missing_like_one_that_never_started() -> None:
    ledger = [*ran(1), entry(2, Mark.START)]
    assert accounting.missing([tick(1), tick(2), tick(3)], ledger) == [tick(2), tick(3)]


def test_runs_that_overlap_are_found_out() -> None:
    assert accounting.overlaps("quick", ran(1, took=1.5) + ran(2, "r1")) == [(tick(1), tick(2))]
    assert accounting.overlaps("quick", ran(1) + ran(2, "r1")) == []


def test_a_fence_that_does_not_grow_is_found_out() -> None:
    assert accounting.fences_fallen("quick", ran(1, fence=7) + ran(2, fence=7)) == [tick(2)]
    assert accounting.fences_fallen("quick", ran(1, fence=7) + ran(2, fence=8)) == []


def test_a_killed_replica_takes_only_its_newest_tick_with_it() -> None:
    ledger = [entry(1, Mark.START), entry(2, Mark.START)]
    assert accounting.lost_with("r0", ledger, []) == {tick(2)}


def test_a_killed_replica_may_not_have_given_back_what_it_had_ended() -> None:
    ledger = [*ran(1), *ran(2), *ran(3, "r1")]
    assert accounting.held_by("r0", ledger, []) == {tick(2)}
    assert accounting.lost_with("r0", ledger, []) == set()


def test_a_tick_claimed_but_never_begun_is_lost_with_its_replica() -> None:
    notes = [skipped(3, "claimed", "r1", claimed_by="r0")]
    assert accounting.lost_with("r0", ran(2), notes) == {tick(3)}
    assert accounting.lost_with("r0", [*ran(2), *ran(3)], notes) == set()


def test_a_lease_excuses_what_it_refused_and_not_for_longer_than_it_ran() -> None:
    notes = [skipped(second, "overlapped", "r1") for second in (2, 3, 4, 5, 6, 7)]
    assert accounting.blocked_by({tick(1)}, notes, LEASE) == {tick(2), tick(3), tick(4), tick(5)}
    assert accounting.blocked_by({tick(1, "other")}, notes, LEASE) == set()


def test_clocks_apart_excuse_what_the_leader_was_refused_and_then_overtook() -> None:
    begun = [entry(4, Mark.START, stamp=1.5)]
    to_leader = [skipped(second, "overlapped", "r1", stamp=second - 2) for second in (1, 2, 3)]
    to_others = [skipped(second, "claimed", "r2") for second in (1, 2, 3)]
    tolerance = timedelta(seconds=2)
    assert accounting.overtaken(to_leader + to_others, begun, tolerance) == {tick(2), tick(3)}
    assert accounting.overtaken(to_leader, begun, tolerance) == set()
    assert accounting.overtaken(to_others, begun, tolerance) == set()
    assert accounting.overtaken(to_leader + to_others, [entry(4, Mark.START)], tolerance) == set()


def test_clocks_apart_excuse_nothing_that_was_refused_as_claimed_alone() -> None:
    begun = [entry(1, Mark.START), entry(4, Mark.START, stamp=2)]
    refused = [skipped(3, "claimed", "r1", stamp=1.1), skipped(3, "claimed", "r2")]
    assert accounting.overtaken(refused, begun, timedelta(seconds=3)) == set()


def test_an_outage_lasts_from_the_failed_statements_start_to_the_first_answer() -> None:
    notes = [
        note(Kind.ANSWERED, 1.0),
        note(Kind.UNANSWERED, 2.5, took=0.4),
        note(Kind.ANSWERED, 2.6, "r1"),
        note(Kind.UNANSWERED, 3.5),
        note(Kind.ANSWERED, 4.2),
        note(Kind.UNANSWERED, 9.0),
    ]
    assert accounting.outages(notes) == [accounting.Outage("r0", at(2.1), at(4.2))]


def test_a_missing_tick_is_excused_only_by_a_report_from_inside_an_outage() -> None:
    outage = [note(Kind.UNANSWERED, 2.1), note(Kind.ANSWERED, 4.2)]
    reports = [skipped(second, "busy") for second in (1, 3, 5, 6)] + [skipped(4, "claimed")]
    assert accounting.unserved(outage + reports) == {tick(3), tick(5)}
    assert accounting.unserved([*outage, skipped(3, "busy", "r1")]) == set()


def test_the_tick_whose_own_statement_failed_is_in_its_outage() -> None:
    outage = [note(Kind.UNANSWERED, 2.1, took=0.09), note(Kind.ANSWERED, 2.3)]
    assert accounting.unserved([*outage, skipped(2, "busy")]) == {tick(2)}
