"""Many connections at once, each one a replica of its own."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import Answer, Bid, Tick
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.fleet_given import run
from tests.stores.postgres.given import (
    HOUR,
    TIMEOUT,
    bid,
    claim,
    claim_and_release,
    ended,
    jobs_locked,
    opened,
    replica,
    waiting,
)

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
        await claim_and_release(one, bid())
        later = Tick("report", INSTANT.replace(hour=1))
        async with jobs_locked(database):
            rivals = [asyncio.create_task(claim(store, bid(later))) for store in (one, other)]
            await waiting(database, 2)
        answers = [answer for [answer] in await asyncio.gather(*rivals)]
    assert sorted(answer.ruling for answer in answers) == ["claimed", "won"]


async def test_nothing_is_won_by_a_claim_that_waited_longer_than_its_timeout(database: str) -> None:
    """C-CANCEL: it was timely when it began; the row's lock came too late."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid())
        later = Tick("report", INSTANT.replace(hour=1))
        async with jobs_locked(database) as blocker:
            late = asyncio.create_task(claim(store, bid(later), timeout=HOUR / 36_000))
            await waiting(database, 1)
            await blocker.execute("SELECT pg_sleep(0.15)")
        [answer] = await late
        assert answer.ruling == "expired"
        [again] = await claim(store, bid(later))
        assert again.won


async def test_nothing_is_won_late_of_a_job_that_has_no_row_yet(database: str) -> None:
    """C-CANCEL: nor by a bid of a batch that another one held up."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid())
        newcomer = Tick("sorted behind the other", INSTANT)
        [spent] = await claim(store, bid(newcomer), timeout=HOUR * 0)
        assert spent.ruling == "expired"
        async with jobs_locked(database) as blocker:
            bids = [bid(Tick("report", INSTANT.replace(hour=1))), bid(newcomer)]
            late = asyncio.create_task(claim(store, *bids, timeout=HOUR / 36_000))
            await waiting(database, 1)
            await blocker.execute("SELECT pg_sleep(0.15)")
        assert [answer.ruling for answer in await late] == ["expired", "expired"]
        [again] = await claim(store, bid(newcomer))
        assert again.won


@pytest.mark.parametrize("lease", [HOUR, None], ids=["overlap forbidden", "overlap allowed"])
async def test_a_token_asked_again_while_it_is_in_flight_is_told_its_win(
    database: str, lease: timedelta | None
) -> None:
    """C-TOKEN: its answer was lost, its commit is not through yet; asked again it changes no column."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid(lease=lease))
        once = bid(Tick("report", INSTANT.replace(hour=1)), lease)
        again = replace(once, lease=lease and 100 * lease)
        async with jobs_locked(database):
            claiming = asyncio.create_task(claim(one, once))
            await waiting(database, 1)
            repeating = asyncio.create_task(claim(other, again))
            await waiting(database, 2)
        [answer], [repeated] = await claiming, await repeating
    assert answer.won
    assert repeated.won
    assert (repeated.fence, repeated.previous_at) == (answer.fence, INSTANT)
    with psycopg.connect(database) as watcher:
        columns = "fence, previous_at, lease_until < now() + interval '2 hours'"
        [row] = watcher.execute(f"SELECT {columns} FROM onebeat_jobs").fetchall()
    assert row == (answer.fence, INSTANT, lease and True)


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
async def test_who_waits_while_an_earlier_tick_is_claimed_hears_that_it_is_running(
    postgres: Postgres, level: str
) -> None:
    """C-LEASE, F-VERDICT: a refusal is worded by what stands there then, and is in its tick's row."""
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    database = postgres.dsn(name)
    later = Tick("report", INSTANT.replace(hour=2))
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid())
        async with jobs_locked(database):
            claiming = asyncio.create_task(claim(one, bid(Tick("report", INSTANT.replace(hour=1)))))
            await waiting(database, 1)
            waiter = bid(later)
            refusing = asyncio.create_task(insisting(other, waiter))
            await waiting(database, 2)
        [won], refused = await claiming, await refusing
    assert won.won
    assert refused.ruling == "overlapped"
    query = f"SELECT verdict FROM onebeat_ticks WHERE scheduled_at = '{later.scheduled_at}'"
    assert postgres.run(query, database=name) == [("overlapped",)]


async def insisting(store: PostgresStore, one: Bid) -> Answer:
    """The answer to *one*, asked again with its token as a conflict makes one do."""
    while True:
        try:
            [answer] = await claim(store, one)
        except ClaimFailed as error:
            if error.failure is not ClaimFailure.CONFLICT:
                raise
        else:
            return answer


async def test_a_late_duplicate_does_not_take_the_lease_again(database: str) -> None:
    """C-TOKEN: it began before the claim and was served after the release."""
    async with opened(*(PostgresStore(database) for _ in range(3))) as (one, two, three):
        await claim_and_release(one, bid())
        asked = bid(Tick("report", INSTANT.replace(hour=1)))
        async with jobs_locked(database):
            claiming = asyncio.create_task(claim(one, asked))
            await waiting(database, 1)
            releasing = asyncio.create_task(two.release([ended(asked)], replica=replica()))
            await waiting(database, 2)
            repeating = asyncio.create_task(claim(three, asked))
            await waiting(database, 3)
        await asyncio.gather(claiming, releasing, repeating)
        [later] = await claim(one, bid(Tick("report", INSTANT.replace(hour=2))))
        assert later.won


async def test_a_release_frees_a_claim_that_lands_while_it_waits(database: str) -> None:
    """C-CANCEL, C-RELEASE: an undecided token is released although its claim was still to commit."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid())
        undecided = bid(Tick("report", INSTANT.replace(hour=1)))
        async with jobs_locked(database):
            claiming = asyncio.create_task(claim(one, undecided))
            await waiting(database, 1)
            releasing = asyncio.create_task(other.release([ended(undecided)], replica=replica()))
            await waiting(database, 2)
        [answer] = await claiming
        await releasing
        assert answer.won
        query = "SELECT verdict, released_at IS NOT NULL FROM onebeat_ticks WHERE scheduled_at = $1"
        assert run(database, query, undecided.tick.scheduled_at) == [("ran", True)]
        [later] = await claim(one, bid(Tick("report", INSTANT.replace(hour=2))))
        assert later.won
