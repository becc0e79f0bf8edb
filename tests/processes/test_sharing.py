"""How replicas share ticks, and what people ask of a running fleet."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from onebeat.connect import connect
from onebeat.control import Target
from onebeat.model import Verdict
from tests.processes.fleet import Fleet, wait_for
from tests.processes.orders import LONG, QUICK, orders_for, with_skews
from tests.processes.records import Entry, Mark, read_ledger
from tests.processes.verdicts import read_history

ASK = {"app": "default", "by": "ada@desk", "reason": "to see"}
AT_ONCE = timedelta(seconds=2)


def starts(story_or_ledger: list[Entry], job_id: str) -> list[Entry]:
    return [
        entry for entry in story_or_ledger if entry.job_id.startswith(job_id) and entry.mark is Mark.START
    ]


def test_three_replicas_run_even_shares_although_one_clock_leads(database: str, tmp_path: Path) -> None:
    """C-FAIR: within 20 % of even over a thousand ticks and more, with a clock that leads by 200 ms."""
    orders = [replace(order, crowd=150) for order in with_skews(orders_for(3, database, tmp_path), 0.2)]
    with Fleet(orders) as fleet:
        ready = datetime.now(UTC)
        time.sleep(17)
        story = fleet.stop()
    crowd = [
        entry for entry in starts(story.ledger, "crowd") if entry.scheduled_at > ready + timedelta(seconds=1)
    ]
    shares = Counter(entry.replica for entry in crowd)
    assert len(crowd) >= 1_000
    assert story.twice == []
    even = len(crowd) / 3
    assert all(0.8 * even <= shares[f"r{number}"] <= 1.2 * even for number in range(3)), shares


def test_a_frozen_replica_holds_up_its_share_for_the_head_start_alone(database: str, tmp_path: Path) -> None:
    """C-FAIR: whoever is second asks a quarter of a second later; no tick is missing."""
    orders = [replace(order, crowd=60) for order in orders_for(3, database, tmp_path)]
    with Fleet(orders) as fleet:
        time.sleep(3)
        fleet.freeze("r1")
        frozen_at = datetime.now(UTC)
        time.sleep(6)
        fleet.thaw("r1")
        time.sleep(1)
        story = fleet.stop()
    alone = (frozen_at + timedelta(seconds=0.5), frozen_at + timedelta(seconds=4.5))
    crowd = [entry for entry in starts(story.ledger, "crowd") if alone[0] < entry.scheduled_at < alone[1]]
    instants = Counter(entry.scheduled_at for entry in crowd)
    assert instants
    assert set(instants.values()) == {60}
    assert story.twice == []
    assert all(entry.stamp - entry.scheduled_at < timedelta(seconds=1.8) for entry in crowd)


async def asking(store_url: str, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    store: Any = connect(store_url)
    try:
        return await ask(store)
    finally:
        await store.close()


def asked(store_url: str, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    return asyncio.run(asking(store_url, ask))


def test_a_running_fleet_is_paused_resumed_triggered_and_cancelled(database: str, tmp_path: Path) -> None:
    """F-PAUSE: from another process; a trigger begins within two seconds, long before the next beat."""
    orders = orders_for(3, database, tmp_path)
    ledger = orders[0].ledger
    with Fleet(orders) as fleet:
        time.sleep(1.2)
        asked(database, lambda store: store.pause(Target(job_id=QUICK), until=None, **ASK))
        time.sleep(0.8)  # what was decided before the pause has begun by now
        before = len(starts(read_ledger(ledger), QUICK))
        time.sleep(3)
        assert len(starts(read_ledger(ledger), QUICK)) == before
        assert asked(database, lambda store: store.resume(Target(job_id=QUICK), **ASK))
        wait_for(lambda: len(starts(read_ledger(ledger), QUICK)) > before, "the job to go on", fleet.logs)
        triggered_at = datetime.now(UTC)
        tick = asked(database, lambda store: store.trigger(LONG, force=False, **ASK))
        [start] = wait_for(lambda: starts(read_ledger(ledger), LONG), "the trigger", fleet.logs)
        assert start.tick == tick
        assert start.stamp - triggered_at < AT_ONCE, fleet.logs()
        asked(database, lambda store: store.cancel(LONG, scheduled_at=None, **ASK))
        wait_for(
            lambda: [
                entry for entry in read_ledger(ledger) if entry.job_id == LONG and entry.mark is Mark.END
            ],
            "the cancellation",
            fleet.logs,
        )
        story = fleet.stop()
    assert story.twice == []
    row = read_history(database)[tick]
    assert (row.verdict, row.by, row.reason) == (Verdict.CANCELLED, "ada@desk", "to see")
    assert "ada@desk" in (row.note or "")
