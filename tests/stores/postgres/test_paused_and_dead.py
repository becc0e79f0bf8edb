"""Claims of what is paused, and claims by and against the dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.fleet_given import (
    NEXT,
    at_every_level,
    at_level,
    die,
    job,
    join,
    pause,
    rows_locked,
    run,
    ticks,
)
from tests.stores.postgres.given import (
    HOUR,
    TICK,
    bid,
    claim,
    claim_and_release,
    ended,
    opened,
    replica,
    waiting,
)


@pytest.mark.parametrize(("scope", "name"), [("job", "report"), ("prefix", "rep"), ("prefix", "")])
async def test_what_is_paused_is_refused_and_its_row_says_so(database: str, scope: str, name: str) -> None:
    """F-PAUSE, F-VERDICT: provisionally, without a holder; the job's row is left alone."""
    async with opened(PostgresStore(database)) as (store,):
        await claim_and_release(store, bid())
        before = job(database, "*")
        pause(database, scope, name)
        bids = [bid(NEXT), bid(replace(NEXT, job_id="other")), bid(replace(NEXT, job_id="Report"))]
        answers = await claim(store, *bids)
    assert [answer.ruling == "paused" for answer in answers] == [True, name == "", name == ""]
    assert job(database, "*") == before
    rows = run(database, "SELECT verdict, provisional, token, note FROM onebeat_ticks WHERE token IS NULL")
    assert set(rows) == {("paused", True, None, "a")}


async def test_a_win_replaces_whatever_row_nobody_holds(database: str) -> None:
    """F-VERDICT: the verdict, whoever gave it and whether it was final."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        pause(database, "prefix", "")
        await claim(store, bid())
        pause(database, "prefix", "", until="2026-01-01")
        run(database, "UPDATE onebeat_ticks SET provisional = false, verdict = 'missed'")
        [won] = await claim(store, asked := replace(bid(), rerun=True))
    assert won.won
    assert ticks(database, "token, verdict, provisional, note, claimed_by, attempt, fence, rerun") == [
        (asked.token, None, True, None, "a", 1, won.fence, True)
    ]


@pytest.mark.parametrize("lease", [HOUR, None], ids=["overlap forbidden", "overlap allowed"])
async def test_a_token_in_flight_asked_again_in_a_pause_is_told_its_win(
    database: str, lease: timedelta | None
) -> None:
    """C-TOKEN, F-PAUSE: it was won before the pause, and its answer lost."""
    async with opened(PostgresStore(database), PostgresStore(database)) as (one, other):
        await claim_and_release(one, bid(lease=lease))
        asked = bid(NEXT, lease)
        with rows_locked(database, "onebeat_jobs"):
            claiming = asyncio.create_task(claim(one, asked))
            await waiting(database, 1)
            pause(database, "job", "report")
            repeating = asyncio.create_task(claim(other, asked))
            await waiting(database, 2)
        [first], [repeated] = await claiming, await repeating
        assert first.won
        assert repeated.won
        [late] = await claim(one, asked)
        [rival] = await claim(one, bid(NEXT, lease))
    assert first.fence == repeated.fence == late.fence
    assert (late.ruling, rival.ruling) == ("won", "claimed")


async def test_a_tick_owes_nothing_from_before_the_end_of_a_pause(database: str) -> None:
    """F-PAUSE, F-VERDICT: nor from before the job's schedule was set; a pause that goes on says nothing."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        [changed_at] = job(database, "changed_at")
        pause(database, "job", "report", until=(changed_at - HOUR).isoformat())
        [one] = await claim(store, asked := bid())
        assert one.owed_since == changed_at
        await store.release([ended(asked)], replica=replica())
        [[ended_at]] = run(database, "SELECT clock_timestamp()")
        pause(database, "prefix", "rep", until=ended_at.isoformat())
        [two] = await claim(store, asked := bid(NEXT))
        assert two.owed_since == ended_at
        pause(database, "prefix", "")
        [again] = await claim(store, asked)
        assert (again.won, again.owed_since) == (True, ended_at)


async def test_of_an_overlapped_tick_the_verdict_is_kept_until_it_is_won(database: str) -> None:
    """F-VERDICT: whoever tries next replaces it, or leaves it as it is."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, running := bid())
        for by in ("a", "b"):
            [refused] = await claim(store, bid(NEXT), by=by)
            assert refused.ruling == "overlapped"
        assert ticks(database, "verdict, note") == [(None, None), ("overlapped", "a")]
        await store.release([ended(running)], replica=replica())
        [won] = await claim(store, bid(NEXT), by="b")
    assert won.won
    assert ticks(database, "verdict, note, claimed_by")[1] == (None, None, "b")


async def test_rivals_refused_at_once_record_a_tick_once(database: str) -> None:
    """F-VERDICT, D-PG: without a deadlock, in whatever order they come."""
    async with opened(*(PostgresStore(database) for _ in range(4))) as stores:
        names = [f"job-{n:03}" for n in range(300)]
        await claim_and_release(stores[0], *(bid(replace(TICK, job_id=name)) for name in names))
        pause(database, "prefix", "")
        orders = (names, names[::-1], names[100:] + names[:100], names[200:] + names[:200])
        await asyncio.gather(
            *(
                store.claim(
                    [bid(replace(NEXT, job_id=name)) for name in order], replica=replica(), timeout=HOUR
                )
                for store, order in zip(stores, orders, strict=True)
            )
        )
    assert run(database, "SELECT verdict, count(*)::int FROM onebeat_ticks GROUP BY 1 ORDER BY 1") == [
        ("paused", 300),
        ("ran", 300),
    ]


@at_every_level()
async def test_a_claim_whose_holder_is_dead_blocks_nothing(postgres: Postgres, level: str) -> None:
    """F-BEAT, F-JUDGE: read when the job's row is locked; one that is merely late blocks on."""
    database = at_level(postgres, level)
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a", "late")
        await claim(store, bid(), by="late")
        run(database, "UPDATE onebeat_replicas SET beat_at = '2026-01-01'")
        [blocked] = await claim(store, bid(NEXT))
        assert blocked.ruling == "overlapped"
        die(database, "late")
        [won] = await claim(store, bid(NEXT))
        assert won.won


async def test_the_dead_win_nothing(database: str) -> None:
    """F-JUDGE, C-LEASE: what they won would block nobody. What they won before is theirs to know."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        await claim(store, earlier := bid())
        await store.release([ended(earlier)], replica=replica())
        die(database, "a")
        [refused] = await claim(store, bid(NEXT))
        [known] = await claim(store, earlier)
    assert (refused.ruling, known.ruling) == ("expired", "won")
