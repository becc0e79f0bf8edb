"""What a job still owes, and when it stops to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from onebeat.engine.backlog import Backlog
from onebeat.engine.due import Due
from onebeat.engine.job import Policy
from onebeat.model import Reason, Tick

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
NONE, LATEST = Policy(), Policy(catch_up="latest")
ALL, QUEUE = Policy(catch_up="all", catch_up_limit=3), Policy(overlap="queue")


def due(minute: int) -> Due:
    return Due(Tick("report", NOON + timedelta(minutes=minute)))


class Told:
    def __init__(self) -> None:
        self.dropped: list[tuple[int, Reason]] = []
        self.backlog = Backlog(self._drop)

    def _drop(self, tick: Tick, reason: Reason) -> None:
        self.dropped.append(((tick.scheduled_at - NOON) // timedelta(minutes=1), reason))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (NONE, set()),
        (LATEST, {Reason.UNAVAILABLE, Reason.TIMEOUT}),
        (QUEUE, {Reason.BUSY, Reason.OVERLAPPED}),
        (ALL, {Reason.UNAVAILABLE, Reason.TIMEOUT, Reason.BUSY, Reason.OVERLAPPED}),
    ],
)
def test_a_refused_tick_stays_owed_as_its_policy_says(told: Told, policy: Policy, kept: set[Reason]) -> None:
    """C-CATCH: what is paused, claimed, late or cancelled is owed by nobody."""
    for reason in Reason:
        assert told.backlog.keeps(due(0), policy, reason) is (reason in kept), reason
        told.backlog.settle(due(0))


def test_a_newer_tick_waits_while_an_older_one_is_owed(told: Told) -> None:
    """C-CATCH: while older ones are owed nobody bids for a newer one; the oldest is next."""
    assert not told.backlog.queues(due(1), ALL)
    told.backlog.owe("report", ALL, [NOON])
    assert told.backlog.queues(due(1), ALL)
    assert told.backlog.next("report") == due(0)
    told.backlog.settle(due(0))
    assert told.backlog.next("report") == due(1)


def test_owed_ticks_are_asked_for_in_ascending_order_however_they_came(told: Told) -> None:
    told.backlog.owe("report", ALL, [due(2).tick.scheduled_at, NOON])
    told.backlog.keeps(due(1), ALL, Reason.OVERLAPPED)
    told.backlog.keeps(due(1), ALL, Reason.OVERLAPPED)
    order = []
    while (head := told.backlog.next("report")) is not None:
        order.append(head)
        told.backlog.settle(head)
    assert order == [due(0), due(1), due(2)]


def test_the_oldest_beyond_the_cap_are_given_up_and_told(told: Told) -> None:
    """C-CATCH: a cap; the newest are kept."""
    told.backlog.owe("report", ALL, [due(minute).tick.scheduled_at for minute in range(5)])
    assert told.dropped == [(0, Reason.PASSED_OVER), (1, Reason.PASSED_OVER)]
    assert told.backlog.next("report") == due(2)


def test_a_queue_holds_the_newest_alone(told: Told) -> None:
    told.backlog.keeps(due(0), QUEUE, Reason.BUSY)
    told.backlog.keeps(due(1), QUEUE, Reason.OVERLAPPED)
    assert told.backlog.next("report") == due(1)
    assert told.dropped == [(0, Reason.OVERLAPPED)]


def test_what_somebody_orders_goes_first_and_is_ordered_anew_with_each_beat(told: Told) -> None:
    """F-PAUSE, C-CRASH: triggers and reruns are asked for until the store no longer lists them."""
    trigger = Due(Tick("report", NOON + timedelta(minutes=7)), triggered=True)
    told.backlog.owe("report", ALL, [NOON])
    told.backlog.order([trigger])
    assert told.backlog.next("report") == trigger
    assert told.backlog.keeps(trigger, NONE, Reason.OVERLAPPED)
    told.backlog.order([])
    assert told.backlog.next("report") == due(0)


def test_a_job_that_goes_takes_what_it_owes_along(told: Told) -> None:
    told.backlog.owe("report", ALL, [NOON])
    told.backlog.forget("report")
    assert told.backlog.job_ids == ()
    assert told.dropped == [(0, Reason.CANCELLED)]
