"""Eight replicas on a PostgreSQL in trouble: never twice, and no tick missing that is not accounted for."""

from __future__ import annotations

import random
import time
from asyncio import to_thread
from dataclasses import replace
from pathlib import Path
from threading import Event

import psycopg

from tests.processes.fleet import Fleet, Story, assert_each_tick_ran_once
from tests.processes.orders import ALLOWED, Orders, orders_for, with_skews
from tests.processes.proxy import LossyProxy
from tests.processes.verdicts import assert_accounted
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres

HANDLES = ("url", "psycopg", "psycopg, sync", "asyncpg", "sqlalchemy")
DOWN = 2.5
CLAIM_TIMEOUT = 1.5
"""Shorter than DOWN, so that some claims are given up, and some are answered after the restart."""


def through_crashes(orders: list[Orders], server: Postgres, span: float, rounds: int) -> tuple[Story, str]:
    """The story of a fleet whose server crashes just after a tick, and comes back."""
    with Fleet(orders) as fleet:
        for _ in range(rounds):
            time.sleep(span / 2 / rounds)
            fleet.replica_in_a_run(ALLOWED)
            server.stop("immediate")
            time.sleep(DOWN)
            server.start()
            time.sleep(span / rounds)
        return fleet.stop(), fleet.logs()


def test_a_crash_of_the_server_costs_only_ticks_that_were_reported(
    own_server: Postgres, tmp_path: Path, span: float, rounds: int
) -> None:
    """D-DOWN, C-ERROR: all recover by themselves; each missing tick was a claim error or its id busy."""
    orders = orders_for(8, own_server.dsn(own_server.new_database()), tmp_path)
    patient = [replace(order, claim_timeout=CLAIM_TIMEOUT) for order in orders]
    story, logs = through_crashes(patient, own_server, span, rounds)
    assert story.twice == []
    assert_accounted(story.owed, story.ledger, orders[0].store, logs)
    assert story.unserved, logs
    assert set(story.missing) <= story.unserved, logs


def test_defaults_set_against_us_cost_neither_a_claim_nor_a_tick(
    own_server: Postgres, tmp_path: Path, span: float, rounds: int
) -> None:
    """D-PG: serializable by default, nothing durable by default, and a crash: what was won stays won.

    The replica whose clock lags asks again for what was won just before the crash.
    """
    name = own_server.new_database()
    with psycopg.connect(own_server.dsn(name), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = 'off'")
    orders = with_skews(orders_for(8, own_server.dsn(name), tmp_path), -3.0)
    story, logs = through_crashes(orders, own_server, span, rounds)
    assert story.twice == []
    assert_accounted(story.owed, story.ledger, orders[0].store, logs)
    assert set(story.missing) <= story.unserved | story.overtaken, logs


def test_every_tick_runs_once_through_a_pooler_whatever_the_app_hands_over(
    pgbouncer: PgBouncer, postgres: Postgres, tmp_path: Path, span: float
) -> None:
    """D-PG, D-POOL: PgBouncer in transaction mode, and every kind of pool and engine."""
    orders = orders_for(8, pgbouncer.dsn(postgres.new_database()), tmp_path)
    handles = [HANDLES[number % len(HANDLES)] for number in range(8)]
    with Fleet(
        [replace(order, handle=handle) for order, handle in zip(orders, handles, strict=True)]
    ) as fleet:
        time.sleep(span)
        story = fleet.stop()
    assert_each_tick_ran_once(story, fleet.logs())
    assert_accounted(story.owed, story.ledger, orders[0].store, fleet.logs())
    assert "ERROR" not in fleet.logs()


async def test_a_claim_whose_answer_was_lost_after_its_commit_still_runs(
    postgres: Postgres, tmp_path: Path, span: float
) -> None:
    """C-TOKEN: asked again, the store says "yours"."""
    chance, calm = random.Random(7), Event()
    async with LossyProxy(postgres, loses=lambda: not calm.is_set() and chance.random() < 0.3) as proxy:
        orders = orders_for(8, proxy.dsn(postgres.new_database()), tmp_path)
        story, logs = await to_thread(until_calm, orders, span, calm)
        await to_thread(assert_accounted, story.owed, story.ledger, orders[0].store, logs)
    assert story.twice == []
    assert set(story.missing) <= story.unserved, logs
    lost_wins = proxy.lost_wins.intersection(story.owed)
    assert lost_wins
    assert lost_wins.isdisjoint(story.missing), logs


def until_calm(orders: list[Orders], span: float, calm: Event) -> tuple[Story, str]:
    """The story of a fleet that stops a while after no answer is lost any more."""
    with Fleet(orders) as fleet:
        time.sleep(span)
        calm.set()
        time.sleep(3)
        return fleet.stop(), fleet.logs()
