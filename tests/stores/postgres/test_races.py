"""Many connections at once, each one a replica of its own."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from tests.stores.postgres.given import HOUR, TIMEOUT, bid, claim, ended, opened, replica

from onebeat.model import Tick
from onebeat.stores.postgres import PostgresStore

INSTANT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("lease", [HOUR, None], ids=["overlap forbidden", "overlap allowed"])
async def test_of_fifty_rivals_with_fifty_connections_one_wins(
    database: str, lease: timedelta | None
) -> None:
    """C-ONE: on a job that has no row yet, and on one that has."""
    async with opened(*(PostgresStore(database) for _ in range(50))) as stores:
        for minute in range(3):
            tick = Tick("report", INSTANT.replace(minute=minute))
            bids = [bid(tick, lease) for _ in stores]
            answers = await asyncio.gather(
                *(claim(store, one) for store, one in zip(stores, bids, strict=True))
            )
            won = [answer for [answer] in answers if answer.won]
            assert len(won) == 1
            [winner] = [one for one in bids if one.token == won[0].token]
            await stores[0].release([ended(winner)], replica=replica())


async def test_batches_in_any_order_neither_deadlock_nor_win_twice(database: str) -> None:
    """C-ONE, C-BATCH: claims and releases of 500 jobs by four rivals lock the jobs in one order."""
    shuffle = random.Random(11)
    wins: Counter[Tick] = Counter()

    async def rival(store: PostgresStore, label: str) -> None:
        for minute in range(4):
            ticks = [Tick(f"job-{n:03}", INSTANT.replace(minute=minute)) for n in range(500)]
            bids = [bid(tick, HOUR) for tick in shuffle.sample(ticks, k=500)]
            # Asked once: at READ COMMITTED nothing but a deadlock could make it fail.
            answers = await store.claim(bids, replica=replica(label), timeout=TIMEOUT)
            won = [one for one, answer in zip(bids, answers, strict=True) if answer.won]
            wins.update(one.tick for one in won)
            await store.release(
                [ended(one) for one in shuffle.sample(won, k=len(won))], replica=replica(label)
            )

    async with opened(*(PostgresStore(database) for _ in range(4))) as stores:
        await asyncio.gather(*(rival(store, f"r{n}") for n, store in enumerate(stores)))
    assert set(wins.values()) == {1}
    # A later tick may be refused while the rival's release of the one before is on its way.
    assert len([tick for tick in wins if tick.scheduled_at == INSTANT]) == 500


async def test_what_is_decided_is_decided_after_the_wait_for_the_lock(database: str) -> None:
    """C-ONE, C-LEASE: a rival that waits for the row sees the claim that was made meanwhile."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim(one, first := bid())
        await one.release([ended(first)], replica=replica())
        later = Tick("report", INSTANT.replace(hour=1))
        async with await psycopg.AsyncConnection.connect(database) as blocker:
            await blocker.execute("SELECT FROM onebeat_jobs FOR UPDATE")
            rivals = [asyncio.create_task(claim(store, bid(later))) for store in (one, other)]
            await waiting(database, 2)
        answers = [answer for [answer] in await asyncio.gather(*rivals)]
    assert sorted(answer.ruling for answer in answers) == ["claimed", "won"]


async def test_nothing_is_won_by_a_claim_that_waited_longer_than_its_timeout(database: str) -> None:
    """C-CANCEL: it was timely when it began; the row's lock came too late."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, first := bid())
        await store.release([ended(first)], replica=replica())
        later = Tick("report", INSTANT.replace(hour=1))
        async with await psycopg.AsyncConnection.connect(database) as blocker:
            await blocker.execute("SELECT FROM onebeat_jobs FOR UPDATE")
            late = asyncio.create_task(claim(store, bid(later), timeout=HOUR / 36_000))
            await waiting(database, 1)
            await blocker.execute("SELECT pg_sleep(0.15)")
        [answer] = await late
        assert answer.ruling == "expired"
        [again] = await claim(store, bid(later))
        assert again.won


async def test_a_token_asked_again_while_it_is_in_flight_is_told_its_win(database: str) -> None:
    """C-TOKEN: the first answer is lost, its commit is not through yet, the second waits for it."""
    for lease in (HOUR, None):
        tick = Tick(f"lease {lease}", INSTANT)
        async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
            await claim(one, first := bid(Tick(tick.job_id, INSTANT.replace(year=2025)), lease))
            await one.release([ended(first)], replica=replica())
            again = bid(tick, lease)
            async with await psycopg.AsyncConnection.connect(database) as blocker:
                await blocker.execute("SELECT FROM onebeat_jobs FOR UPDATE")
                both = [asyncio.create_task(claim(store, again)) for store in (one, other)]
                await waiting(database, 2)
            answers = [answer for [answer] in await asyncio.gather(*both)]
            assert [answer.won for answer in answers] == [True, True]
            assert len({(answer.fence, answer.previous_at) for answer in answers}) == 1


async def test_a_release_frees_a_claim_that_lands_while_it_waits(database: str) -> None:
    """C-CANCEL, C-RELEASE: an undecided token is released although its claim was still to commit."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim(one, first := bid())
        await one.release([ended(first)], replica=replica())
        undecided = bid(Tick("report", INSTANT.replace(hour=1)))
        async with await psycopg.AsyncConnection.connect(database) as blocker:
            await blocker.execute("SELECT FROM onebeat_jobs FOR UPDATE")
            claiming = asyncio.create_task(claim(one, undecided))
            await waiting(database, 1)
            releasing = asyncio.create_task(other.release([ended(undecided)], replica=replica()))
            await waiting(database, 2)
        [answer] = await claiming
        await releasing
        assert answer.won
        [later] = await claim(one, bid(Tick("report", INSTANT.replace(hour=2))))
        assert later.won


async def waiting(database: str, count: int) -> None:
    """Return when *count* statements wait for a lock."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as watcher:
        while True:
            cursor = await watcher.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            )
            row = await cursor.fetchone()
            if row and row[0] >= count:
                return
            await asyncio.sleep(0.01)
