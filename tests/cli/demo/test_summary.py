"""The account of a demo recognises every way in which onebeat could break its word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from onebeat.cli.demo.ledger import Entry, Mark
from onebeat.cli.demo.summary import Refusal, Summary, account, owed_ticks
from onebeat.model import Reason, Tick
from onebeat.schedules.every import every

NOON = datetime(2027, 5, 1, 12, tzinfo=UTC)
LEASES = {"export": timedelta(seconds=3.5), "report": timedelta(seconds=3.5)}


def at(seconds: int, job_id: str = "export") -> Tick:
    return Tick(job_id, NOON + timedelta(seconds=seconds))


def whole(tick: Tick, replica: str) -> list[Entry]:
    return [Entry(tick, replica, Mark.START), Entry(tick, replica, Mark.END)]


def cut(tick: Tick, replica: str) -> list[Entry]:
    return [Entry(tick, replica, Mark.START)]


def summed(
    owed: list[Tick], ledger: list[Entry], refusals: list[Refusal] | None = None, killed: str | None = "bravo"
) -> Summary:
    return account(owed, ledger, refusals or [], killed=killed, leases=LEASES)


def test_ticks_that_ran_once_each_are_all_that_was_owed() -> None:
    summary = summed([at(0), at(3)], whole(at(0), "alpha") + whole(at(3), "bravo"), killed=None)
    assert summary.ran == (at(0), at(3))
    assert summary.kept
    assert str(summary) == "owed 2 = ran 2 + lost 0 + blocked 0 + missed 0; twice 0"


def test_a_tick_that_started_on_two_replicas_is_twice() -> None:
    summary = summed([at(0)], whole(at(0), "alpha") + whole(at(0), "charlie"))
    assert summary.twice == (at(0),)
    assert not summary.kept


def test_a_tick_that_started_twice_on_one_replica_is_twice() -> None:
    assert summed([at(0)], whole(at(0), "alpha") * 2).twice == (at(0),)


def test_a_tick_that_started_twice_counts_although_it_is_not_owed() -> None:
    assert not summed([], whole(at(0), "alpha") * 2).kept


def test_a_tick_that_nobody_started_is_missed() -> None:
    summary = summed([at(0), at(3)], whole(at(0), "alpha"))
    assert summary.missed == (at(3),)
    assert not summary.kept


@pytest.mark.parametrize("reason", [Reason.CLAIMED, Reason.BUSY, Reason.UNAVAILABLE])
def test_a_tick_that_everybody_refused_is_missed(reason: Reason) -> None:
    assert summed([at(0)], [], [Refusal(at(0), reason, "alpha")]).missed == (at(0),)


def test_the_body_that_the_killed_replica_did_not_end_is_lost() -> None:
    """C-CRASH: a replica that dies in a run loses that tick."""
    summary = summed([at(0), at(3)], cut(at(0), "bravo") + whole(at(3), "alpha"))
    assert summary.lost == (at(0),)
    assert summary.ran == (at(3),)
    assert summary.kept


def test_a_tick_claimed_but_not_begun_by_the_killed_replica_is_lost() -> None:
    summary = summed([at(0)], [], [Refusal(at(0), Reason.CLAIMED, "bravo")])
    assert summary.lost == (at(0),)


def test_a_tick_lost_by_the_killed_replica_but_started_elsewhere_ran() -> None:
    summary = summed([at(0)], cut(at(0), "bravo") + whole(at(0), "alpha"))
    assert summary.ran == (at(0),)
    assert summary.twice == (at(0),)


def test_the_killed_replica_excuses_only_the_newest_tick_of_a_job() -> None:
    refusals = [Refusal(at(0), Reason.CLAIMED, "bravo")]
    summary = summed([at(0), at(3)], cut(at(3), "bravo"), refusals)
    assert summary.missed == (at(0),)
    assert summary.lost == (at(3),)


def test_what_the_killed_replica_ended_is_not_lost() -> None:
    assert summed([at(0)], whole(at(0), "bravo")).ran == (at(0),)


def test_without_a_kill_nothing_is_lost() -> None:
    refusals = [Refusal(at(0), Reason.CLAIMED, "bravo")]
    assert summed([at(0)], [], refusals, killed=None).missed == (at(0),)


def test_a_tick_refused_while_the_lost_lease_lasts_is_blocked() -> None:
    """C-LEASE: with overlap forbidden a claim blocks the later ticks until its lease ends."""
    summary = summed([at(0), at(3)], cut(at(0), "bravo"), [Refusal(at(3), Reason.OVERLAPPED)])
    assert summary.blocked == (at(3),)
    assert summary.kept


def test_a_tick_refused_after_the_lost_lease_has_ended_is_missed() -> None:
    summary = summed([at(0), at(6)], cut(at(0), "bravo"), [Refusal(at(6), Reason.OVERLAPPED)])
    assert summary.missed == (at(6),)


def test_only_the_lease_excuses_a_tick_after_the_lost_one() -> None:
    summary = summed([at(0), at(3)], cut(at(0), "bravo"), [Refusal(at(3), Reason.BUSY)])
    assert summary.missed == (at(3),)


def test_a_lost_tick_of_one_job_excuses_no_other_job() -> None:
    refusals = [Refusal(at(3, "report"), Reason.OVERLAPPED)]
    assert summed([at(3, "report")], cut(at(0), "bravo"), refusals).missed == (at(3, "report"),)


def test_an_overlap_with_a_living_replica_is_no_excuse() -> None:
    summary = summed([at(0), at(3)], cut(at(0), "alpha"), [Refusal(at(3), Reason.OVERLAPPED)])
    assert summary.missed == (at(3),)


def test_a_refused_tick_that_another_replica_ran_ran() -> None:
    ledger = cut(at(0), "bravo") + whole(at(3), "alpha")
    assert summed([at(3)], ledger, [Refusal(at(3), Reason.OVERLAPPED)]).ran == (at(3),)


def test_owed_are_the_ticks_after_the_last_is_ready_up_to_the_first_stop() -> None:
    schedules = {"export": every(seconds=3), "report": every(seconds=2)}
    until = NOON + timedelta(seconds=4.9)
    assert owed_ticks(schedules, since=NOON, until=until) == sorted([at(3), at(2, "report"), at(4, "report")])
