"""Claims of ticks whose rows wait for a holder: triggered ones, and lost ones."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from onebeat.model import Verdict
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.fleet_given import (
    NEXT,
    TTL,
    at_every_level,
    at_level,
    die,
    job,
    join,
    rows_locked,
    run,
    ticks,
    triggered,
    waiting_bid,
)
from tests.stores.postgres.given import TICK, bid, claim, claim_and_release, ended, opened, replica, waiting


async def lost(store: PostgresStore, database: str, *, rerun: bool = True) -> str:
    """The token under which a replica that died since has claimed TICK; its verdict is `lost`."""
    await join(store, "dead", "judge")
    claimed = replace(bid(), rerun=rerun)
    await claim(store, claimed, by="dead")
    die(database, "dead")
    await store.bury(replica=replica("judge"), ttl=TTL)
    assert ticks(database, "verdict") == [("lost",)]
    return claimed.token


@at_every_level()
async def test_of_twenty_rivals_one_wins_each_next_attempt(postgres: Postgres, level: str) -> None:
    """C-CRASH, C-ONE: on as many connections; what died with attempt 1 is run as attempt 2, once."""
    database = at_level(postgres, level)
    async with opened(*(PostgresStore(database) for _ in range(20))) as stores:
        await lost(stores[0], database)
        for attempt in (2, 3):
            rivals = [waiting_bid(bid(), attempt=attempt) for _ in stores]
            answers = await asyncio.gather(
                *(claim(store, one) for store, one in zip(stores, rivals, strict=True))
            )
            [won] = [answer for [answer] in answers if answer.won]
            assert won.attempt == attempt
            assert job(database, "attempt, watermark, previous_at") == (attempt, TICK.scheduled_at, None)
            assert ticks(database, "token, attempt, verdict, released_at, wanted") == [
                (won.token, attempt, None, None, None)
            ]
            run(database, "UPDATE onebeat_ticks SET verdict = 'lost', released_at = now()")
            run(database, "UPDATE onebeat_jobs SET released_at = now()")


async def test_an_attempt_asked_again_is_told_its_win(database: str) -> None:
    """C-TOKEN: in flight, later, and after the release; it changes no column."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await lost(one, database)
        again = waiting_bid(bid(), attempt=2)
        with rows_locked(database, "onebeat_jobs"):
            claiming = asyncio.create_task(claim(one, again))
            await waiting(database, 1)
            repeating = asyncio.create_task(claim(other, again))
            await waiting(database, 2)
        [first], [repeated] = await claiming, await repeating
        assert first.won
        assert repeated.won
        await one.release([ended(again)], replica=replica())
        rows = ticks(database, "*"), job(database, "*")
        [late] = await claim(one, again)
        assert late.won
        assert (ticks(database, "*"), job(database, "*")) == rows
    assert first.fence == repeated.fence == late.fence


async def test_no_attempt_is_won_once_a_later_tick_was_claimed(database: str) -> None:
    """C-CRASH: decided by the job's row when its lock is got, whatever the snapshot says."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await lost(one, database)
        with rows_locked(database, "onebeat_jobs"):
            next_ = asyncio.create_task(claim(one, bid(NEXT, None)))
            await waiting(database, 1)
            rerun = asyncio.create_task(claim(other, waiting_bid(bid(), attempt=2)))
            await waiting(database, 2)
        [[won], [late]] = await next_, await rerun
    assert (won.ruling, late.ruling) == ("won", "claimed")
    assert job(database, "watermark") == (NEXT.scheduled_at,)
    assert ticks(database, "verdict, attempt") == [("lost", 1), (None, 1)]


async def test_no_later_tick_is_won_while_an_attempt_is_waited_for(database: str) -> None:
    """C-CRASH, C-LEASE: the lost one's lease is kept for it, and no longer than for seconds."""
    async with opened(PostgresStore(database)) as (store,):
        await lost(store, database)
        [refused] = await claim(store, bid(NEXT))
        assert refused.ruling == "overlapped"
        run(database, "UPDATE onebeat_jobs SET lease_until = lease_until - interval '5 seconds'")
        [late] = await claim(store, bid(NEXT))
        assert late.won


async def test_a_tick_found_lost_no_more_leaves_no_lease_behind(database: str) -> None:
    """C-CRASH, F-LOST: its holder came back while the bid waited for the tick's row."""
    async with opened(PostgresStore(database)) as (store,):
        token = await lost(store, database)
        with rows_locked(database, "onebeat_ticks") as holder:
            rerun = asyncio.create_task(claim(store, waiting_bid(bid(), attempt=2)))
            await waiting(database, 1)
            holder.execute("UPDATE onebeat_ticks SET verdict = NULL, released_at = NULL")
            holder.execute("UPDATE onebeat_jobs SET released_at = NULL, holder = 'back'")
            before = job(database, "fence")
        [answer] = await rerun
    assert answer.ruling == "claimed"
    assert job(database, "token, holder, released_at, attempt, fence") == (token, "back", None, 1, *before)


@pytest.mark.parametrize("attempt", [1, 3])
async def test_only_the_attempt_after_the_lost_one_is_won(database: str, attempt: int) -> None:
    """C-CRASH."""
    async with opened(PostgresStore(database)) as (store,):
        await lost(store, database)
        [answer] = await claim(store, waiting_bid(bid(), attempt=attempt))
    assert answer.ruling == "claimed"


@at_every_level()
async def test_of_twenty_rivals_one_takes_up_a_trigger(postgres: Postgres, level: str) -> None:
    """F-PAUSE, C-ONE: each on a connection of its own; the schedule's watermark stays where it is."""
    database = at_level(postgres, level)
    async with opened(*(PostgresStore(database) for _ in range(20))) as stores:
        await claim_and_release(stores[0], bid())
        triggered(database, NEXT)
        rivals = [waiting_bid(bid(NEXT), triggered=True) for _ in stores]
        answers = await asyncio.gather(
            *(claim(store, one) for store, one in zip(stores, rivals, strict=True))
        )
        [won] = [answer for [answer] in answers if answer.won]
    assert job(database, "watermark, previous_at, attempt, token") == (TICK.scheduled_at, None, 1, won.token)
    assert ticks(database, "token, triggered, asked_by, wanted")[1] == (won.token, True, "ada", None)


async def test_a_trigger_withdrawn_meanwhile_leaves_no_lease_behind(database: str) -> None:
    """F-PAUSE: the bid waits for the tick's row, and then sees it as it stands."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid())
        triggered(database, NEXT)
        before = job(database, "*")
        with rows_locked(database, "onebeat_ticks") as holder:
            claiming = asyncio.create_task(claim(store, waiting_bid(bid(NEXT), triggered=True)))
            await waiting(database, 1)
            holder.execute("UPDATE onebeat_ticks SET verdict = 'cancelled', wanted = NULL WHERE triggered")
        [answer] = await claiming
    assert answer.ruling == "claimed"
    assert job(database, "*") == before


async def test_a_trigger_waits_for_the_lease_that_is_taken_while_it_waits(database: str) -> None:
    """F-PAUSE, C-LEASE: and is taken up after it, also when a forced one has overtaken it."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid())
        later = replace(NEXT, scheduled_at=NEXT.scheduled_at.replace(minute=1))
        forced = replace(NEXT, scheduled_at=NEXT.scheduled_at.replace(minute=2))
        triggered(database, later)
        triggered(database, forced)
        scheduled = bid(NEXT)
        with rows_locked(database, "onebeat_jobs"):
            claiming = asyncio.create_task(claim(one, scheduled))
            await waiting(database, 1)
            patient = asyncio.create_task(claim(other, waiting_bid(bid(later), triggered=True)))
            await waiting(database, 2)
        assert [answer.won for [answer] in (await claiming, await patient)] == [True, False]
        [overlapping] = await claim(one, waiting_bid(bid(forced), triggered=True, lease=None))
        assert overlapping.won
        assert job(database, "token") == (scheduled.token,)
        await one.release([ended(scheduled)], replica=replica())
        [after] = await claim(one, waiting_bid(bid(later), triggered=True))
        assert after.won


async def test_triggered_lost_and_scheduled_ticks_in_any_order_neither_deadlock_nor_win_twice(
    database: str,
) -> None:
    """C-BATCH, C-ONE: of a hundred jobs each, claimed and released by four rivals at once."""
    async with opened(*(PostgresStore(database) for _ in range(4))) as stores:
        names = [f"job-{n:03}" for n in range(300)]
        firsts = [bid(replace(TICK, job_id=name)) for name in names]
        await claim(stores[0], *firsts)
        await stores[0].release([ended(one) for one in firsts], replica=replica())
        run(database, "UPDATE onebeat_ticks SET verdict = 'lost' WHERE job_id >= 'job-200'")
        for name in names[:100]:
            triggered(database, replace(NEXT, job_id=name))

        async def rival(store: PostgresStore, turn: int) -> int:
            bids = [waiting_bid(bid(replace(NEXT, job_id=name)), triggered=True) for name in names[:100]]
            bids += [bid(replace(NEXT, job_id=name)) for name in names[100:200]]
            bids += [waiting_bid(bid(replace(TICK, job_id=name)), attempt=2) for name in names[200:]]
            bids = bids[turn * 70 :] + bids[: turn * 70]
            # Asked once: at READ COMMITTED nothing but a deadlock could make it fail.
            answers = await store.claim(bids, replica=replica(), timeout=TTL)
            won = [one for one, answer in zip(bids, answers, strict=True) if answer.won]
            await store.release([ended(one) for one in reversed(won)], replica=replica())
            return len(won)

        wins = await asyncio.gather(*(rival(store, turn) for turn, store in enumerate(stores)))
    assert sum(wins) == 300
    assert run(database, "SELECT DISTINCT verdict FROM onebeat_ticks WHERE job_id >= 'job-200'") == [
        (Verdict.RAN,)
    ]
