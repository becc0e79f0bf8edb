"""How replicas share ticks, and what people ask of a running fleet."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from onebeat import Tick
from onebeat.control import Target
from onebeat.model import Verdict
from tests.processes.accounting import owed_between
from tests.processes.asking import BY, REASON, cancel, pause, resume, trigger, wait_until_known
from tests.processes.fleet import Fleet, Story, wait_for, wait_for_a_pause
from tests.processes.orders import LONG, PLAIN, QUICK, Orders, orders_for, with_skews
from tests.processes.records import Entry, Mark
from tests.processes.verdicts import assert_accounted, read_history

TTL = 3.0
AT_ONCE = timedelta(seconds=2)
SOON = timedelta(seconds=1)


def with_a_crowd(orders: list[Orders], jobs: int) -> list[Orders]:
    return [replace(order, crowd=jobs) for order in orders]


def crowd_of(story: Story, since: datetime, until: datetime) -> list[Entry]:
    """The starts of the crowd's ticks in [since, until)."""
    return [
        entry
        for entry in story.ledger
        if entry.mark is Mark.START and entry.job_id.startswith("crowd")
        if since <= entry.scheduled_at < until
    ]


def shares_of(crowd: list[Entry]) -> Counter[str]:
    """How many ticks each replica ran. The two most uneven instants are left out: a busy machine may hold
    somebody up for longer than any head start, now and then."""
    instants: dict[datetime, Counter[str]] = {}
    for entry in crowd:
        instants.setdefault(entry.scheduled_at, Counter())[entry.replica] += 1
    shares = sorted(instants.values(), key=lambda share: max(share.values()))
    return sum(shares[:-2], Counter())


def test_three_replicas_run_even_shares_although_one_clock_leads(database: str, tmp_path: Path) -> None:
    """C-FAIR: within 20 % of even over a thousand ticks and more, with a clock that leads by 200 ms."""
    orders = with_a_crowd(with_skews(orders_for(3, database, tmp_path), 0.2), 180)
    with Fleet([replace(order, ttl=TTL) for order in orders]) as fleet:
        # Whoever came last is known to all with their next beats.
        acquainted = datetime.now(UTC) + timedelta(seconds=TTL)
        time.sleep(19)
        story = fleet.stop()
    shares = shares_of(crowd_of(story, acquainted, datetime.now(UTC)))
    assert story.twice == []
    assert shares.total() >= 1_000
    even = shares.total() / 3
    assert all(0.8 * even <= shares[order.label] <= 1.2 * even for order in orders), shares


def test_a_frozen_replica_holds_up_its_share_for_the_head_start_alone(database: str, tmp_path: Path) -> None:
    """C-FAIR: whoever is second asks a quarter of a second later; no tick is missing."""
    orders = with_a_crowd(orders_for(3, database, tmp_path), 60)
    with Fleet(orders) as fleet:
        time.sleep(2)
        wait_for_a_pause()
        fleet.freeze("r1")
        frozen_at = datetime.now(UTC)
        time.sleep(5)
        thawed_at = datetime.now(UTC)
        fleet.thaw("r1")
        story = fleet.stop()
    crowd = crowd_of(story, frozen_at, thawed_at - SOON)
    assert {entry.replica for entry in crowd} == {"r0", "r2"}
    assert len(crowd) >= 2 * 60
    assert set(Counter(entry.scheduled_at for entry in crowd).values()) == {60}, fleet.logs()
    assert story.twice == []
    assert max(entry.stamp - entry.scheduled_at for entry in crowd) < AT_ONCE


def test_a_paused_job_rests_on_all_replicas_until_it_is_resumed(database: str, tmp_path: Path) -> None:
    """F-PAUSE, F-VERDICT: asked from another process; what passed meanwhile is told, and never runs."""
    with Fleet(orders_for(3, database, tmp_path)) as fleet:
        pause(database, Target(job_id=QUICK))
        paused_at = datetime.now(UTC)
        time.sleep(4)
        resumed_at = datetime.now(UTC)
        assert resume(database, Target(job_id=QUICK))
        assert not resume(database, Target(job_id=QUICK))
        wait_for(
            lambda: [entry for entry in fleet.story().starts(QUICK) if entry.scheduled_at > resumed_at],
            "the job to go on",
            fleet.logs,
        )
        story = fleet.stop()
    # Who is preferred least asks up to three quarters of a second late, and may meet the end of the pause.
    passed = owed_between([QUICK], paused_at, resumed_at - SOON)
    history = read_history(database)
    assert len(passed) >= 2
    assert [history[tick].verdict for tick in passed] == [Verdict.PAUSED] * len(passed), fleet.logs()
    assert {entry.tick for entry in story.starts(QUICK)}.isdisjoint(passed)
    assert set(owed_between([PLAIN], paused_at, resumed_at)) <= {entry.tick for entry in story.ends(PLAIN)}
    assert_accounted(story.owed, story.ledger, database, fleet.logs())


def test_a_run_is_triggered_and_cancelled_from_another_process(database: str, tmp_path: Path) -> None:
    """F-PAUSE: both reach the fleet within two seconds, long before the next beat."""
    with Fleet(orders_for(3, database, tmp_path)) as fleet:
        wait_until_known(database, LONG)
        triggered_at = datetime.now(UTC)
        tick: Tick = trigger(database, LONG)
        [start] = wait_for(lambda: fleet.story().starts(LONG), "the trigger", fleet.logs)
        cancelled_at = datetime.now(UTC)
        assert cancel(database, LONG) == [tick]
        [end] = wait_for(lambda: fleet.story().ends(LONG), "the cancellation", fleet.logs)
        story = fleet.stop()
    assert start.tick == end.tick == tick
    assert start.stamp - triggered_at < AT_ONCE, fleet.logs()
    assert end.stamp - cancelled_at < AT_ONCE, fleet.logs()
    assert end.cause == "Cancelled"
    row = read_history(database)[tick]
    assert (row.verdict, row.replica, row.by, row.reason) == (Verdict.CANCELLED, end.replica, BY, REASON)
    assert BY in (row.note or "")
    assert_accounted(story.owed, story.ledger, database, fleet.logs())
