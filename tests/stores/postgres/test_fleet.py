"""The heartbeat's side on PostgreSQL: what only a server with many connections can show."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from onebeat.fleet import Held, Registration
from onebeat.model import Record, Ruling, Tick, Verdict, Wanted
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres
from tests.stores.postgres.fleet_given import (
    FACTS,
    INSTANT,
    NEXT,
    TTL,
    age,
    at_every_level,
    at_level,
    beat,
    die,
    job,
    join,
    rows_locked,
    run,
    ticks,
    triggered,
)
from tests.stores.postgres.given import HOUR, TICK, bid, claim, ended, opened, replica, waiting


async def test_ten_thousand_jobs_are_registered_by_one_statement(database: str) -> None:
    """F-DRIFT: and registered again they are not even locked."""
    jobs = [Registration(f"job-{n:05}", "0 2 * * *", f"digest {n}") for n in range(10_000)]
    now = datetime.now(UTC)
    async with opened(PostgresStore(database)) as (store,):
        known = await store.join(jobs, replica=replica(), facts=FACTS, now=now)
        assert [one.job_id for one in known] == [one.job_id for one in jobs]
        assert {one.watermark for one in known} == {None}
        with rows_locked(database, "onebeat_jobs"):
            again = await store.join(jobs, replica=replica("b"), facts=FACTS, now=now)
    assert list(again) == list(known)
    assert run(database, "SELECT count(*), count(DISTINCT xmin::text) FROM onebeat_jobs") == [(10_000, 1)]


async def test_replicas_that_join_at_once_in_any_order_do_not_deadlock(database: str) -> None:
    """D-PG: three hundred jobs, none of them known yet, by four replicas."""
    jobs = [Registration(f"job-{n:03}", "0 2 * * *", "digest") for n in range(300)]
    orders = (jobs, jobs[::-1], jobs[100:] + jobs[:100], jobs[200:] + jobs[:200])
    async with opened(*(PostgresStore(database) for _ in range(4))) as stores:
        known = await asyncio.gather(
            *(
                store.join(order, replica=replica(f"r{n}"), facts=FACTS, now=datetime.now(UTC))
                for n, (store, order) in enumerate(zip(stores, orders, strict=True))
            )
        )
    assert len({one.owed_since for all_ in known for one in all_ if one.job_id == "job-000"}) == 1
    assert run(database, "SELECT count(*) FROM onebeat_jobs WHERE changed_at <> first_seen") == [(0,)]


async def test_a_job_is_owed_anew_when_the_text_of_its_schedule_changes(database: str) -> None:
    """C-CATCH: not when other zone data gives it other instants."""
    async with opened(PostgresStore(database)) as (store,):
        given = Registration("report", "0 2 * * *", "one digest")
        first, same, changed = [
            (await store.join([one], replica=replica(), facts=FACTS, now=datetime.now(UTC)))[0].owed_since
            for one in (given, replace(given, instants="another"), replace(given, schedule="0 3 * * *"))
        ]
    assert first == same < changed
    [(jobs,)] = run(database, "SELECT jobs FROM onebeat_replicas")
    assert jobs == '{"report": "one digest"}'
    assert job(database, "schedule, fingerprint") == ("0 3 * * *", "one digest")


async def test_joining_is_no_way_back_to_life(database: str) -> None:
    """F-JUDGE: a dead id stays dead, whatever it does."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        die(database, "a")
        await join(store, "a")
        pulse = await beat(store)
    assert (pulse.dead, pulse.healthy, pulse.living) == (True, False, ())


async def test_a_beat_after_a_gap_starts_the_health_anew(database: str) -> None:
    """F-JUDGE: so a whole fleet that could not beat for hours buries nobody."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a", "b")
        age(database, "a", healthy_since="1 hour", beat_at="59 seconds")
        assert (await beat(store)).healthy
        for name in ("a", "b"):
            age(database, name, healthy_since="1 hour", beat_at="61 seconds")
        pulse = await beat(store)
        assert (pulse.healthy, pulse.suspects) == (False, True)
        assert await store.bury(replica=replica(), ttl=TTL) == []
    assert run(database, "SELECT dead_at FROM onebeat_replicas") == [(None,), (None,)]


@at_every_level()
async def test_whoever_beats_while_it_is_judged_lives(postgres: Postgres, level: str) -> None:
    """F-JUDGE: the obituary passes by a row that somebody holds, and looks again at one it has got."""
    database = at_level(postgres, level)
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "judge", "late")
        age(database, "judge", healthy_since="1 hour")
        age(database, "late", beat_at="61 seconds")
        with psycopg.connect(database) as beating:
            beating.execute("UPDATE onebeat_replicas SET beat_at = clock_timestamp() WHERE label = 'late'")
            await store.bury(replica=replica("judge"), ttl=TTL)
        await store.bury(replica=replica("judge"), ttl=TTL)
        assert not (await beat(store, "late")).dead


async def test_a_beat_that_waits_for_its_obituary_finds_itself_dead(database: str) -> None:
    """F-JUDGE: they exclude each other by the row's lock."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "late")
        with psycopg.connect(database) as judge:
            judge.execute("UPDATE onebeat_replicas SET dead_at = clock_timestamp()")
            beating = asyncio.create_task(beat(store, "late"))
            await waiting(database, 1)
        assert (await beating).dead


async def test_of_many_judges_and_the_accused_all_agree(database: str) -> None:
    """F-JUDGE, F-VERDICT: twenty beats against burials; who is told that it lives keeps its claims."""
    async with opened(*(PostgresStore(database) for _ in range(4))) as stores:
        for turn in range(20):
            name, tick = f"late-{turn}", Tick(f"job-{turn}", INSTANT)
            await join(stores[0], "judge-1", "judge-2", name)
            await claim(stores[0], bid(tick), by=name)
            for judge in ("judge-1", "judge-2"):
                age(database, judge, healthy_since="1 hour")
            age(database, name, beat_at="61 seconds")
            pulse, one, other = await asyncio.gather(
                beat(stores[1], name),
                stores[2].bury(replica=replica("judge-1"), ttl=TTL),
                stores[3].bury(replica=replica("judge-2"), ttl=TTL),
            )
            assert [lost.tick for lost in (*one, *other)] == ([tick] if pulse.dead else [])


async def buried(store: PostgresStore, database: str, name: str = "dead") -> list[Tick]:
    """What is lost with a replica that has not beaten for long."""
    await join(store, "judge")
    age(database, "judge", healthy_since="1 hour")
    age(database, name, beat_at="61 seconds")
    return [lost.tick for lost in await store.bury(replica=replica("judge"), ttl=TTL)]


async def test_what_the_dead_held_is_lost_and_released(database: str) -> None:
    """F-VERDICT, C-CRASH: its job counts a failure, and what may be run again is wanted so."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead")
        older = bid(replace(TICK, job_id="allowed"), lease=None)
        newer, again = replace(older, tick=replace(NEXT, job_id="allowed"), token="n"), bid()
        for one in (older, newer, again):
            await claim(store, replace(one, rerun=True), by="dead")
        lost = await buried(store, database)
        assert lost == [older.tick, newer.tick, again.tick]
        pulse = await beat(store, "judge")
    assert ticks(database, "verdict, provisional, released_at IS NULL, wanted, note") == [
        ("lost", False, False, None, "its replica dead was declared dead"),
        ("lost", False, False, "rerun", "its replica dead was declared dead"),
        ("lost", False, False, "rerun", "its replica dead was declared dead"),
    ]
    assert [(order.wanted, order.tick, order.attempt) for order in pulse.orders] == [
        (Wanted.RERUN, again.tick, 2),
        (Wanted.RERUN, newer.tick, 2),
    ]
    # The lease is kept for whoever runs it again, by whoever found it.
    kept = "failures, last_verdict, released_at IS NULL, holder, lease_until < now() + interval '10 seconds'"
    assert job(database, kept) == (1, "lost", True, replica("judge").id, True)
    assert job(database, "failures, last_verdict", "allowed") == (2, "lost")


async def test_what_was_confirmed_before_its_holder_died_has_run(database: str) -> None:
    """F-TX: its effects are committed."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead")
        await claim(store, replace(bid(), rerun=True), by="dead")
        run(database, "UPDATE onebeat_ticks SET confirmed_at = clock_timestamp()")
        assert await buried(store, database) == []
    assert ticks(database, "verdict, wanted") == [("ran", None)]
    assert job(database, "failures, last_verdict, last_success_at IS NULL") == (0, "ran", False)


async def test_a_tick_that_a_transaction_holds_is_buried_later(database: str) -> None:
    """F-TX, F-JUDGE: the burial waits for nobody, and the dead are not forgotten before."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead")
        await claim(store, bid(), by="dead")
        with rows_locked(database, "onebeat_ticks"):
            assert await buried(store, database) == []
            die(database, "dead", ago="61 seconds")
            assert (await beat(store, "judge")).suspects
            assert await store.bury(replica=replica("judge"), ttl=TTL) == []
            assert (await beat(store, "judge")).suspects
        [lost] = await store.bury(replica=replica("judge"), ttl=TTL)
        assert lost.tick == TICK
        assert not (await beat(store, "judge")).suspects


async def test_a_claim_that_lands_after_its_holders_death_is_lost_in_the_end(database: str) -> None:
    """F-VERDICT: it was on its way when its holder was declared dead."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead")
        assert await buried(store, database) == []
        run(database, "UPDATE onebeat_replicas SET dead_at = NULL WHERE label = 'dead'")
        await claim(store, bid(), by="dead")
        die(database, "dead", ago="59 seconds")
        assert not (await beat(store, "judge")).suspects
        die(database, "dead", ago="61 seconds")
        assert (await beat(store, "judge")).suspects
        [lost] = await store.bury(replica=replica("judge"), ttl=TTL)
    assert lost.tick == TICK


@at_every_level()
@pytest.mark.parametrize("lease", [HOUR, None], ids=["overlap forbidden", "overlap allowed"])
@pytest.mark.parametrize("rerun", [True, False], ids=["rerun", "skipped"])
async def test_one_who_comes_back_takes_up_its_claims_again(
    postgres: Postgres, level: str, lease: timedelta | None, rerun: bool
) -> None:
    """F-LOST: under its new name; what was said of its death is taken back."""
    database = at_level(postgres, level)
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead", "back")
        held = replace(bid(lease=lease), rerun=rerun)
        await claim(store, held, by="dead")
        whole = "token, lease_until > now() + interval '59 minutes', released_at, fence, failures"
        before = job(database, whole)
        assert await buried(store, database) == [TICK]
        claims = [Held(TICK, held.token, lease), Held(TICK, "another's", lease)]
        assert list(await store.reassert(claims, replica=replica("back"))) == [True, False]
        assert list(await store.reassert(claims, replica=replica("back"))) == [True, False]
        assert (await beat(store, "back")).orders == ()
        [next_] = await claim(store, bid(NEXT, lease=HOUR))
        assert next_.won == (lease is None)
    assert ticks(database, "verdict, provisional, released_at, note, wanted, holder")[0] == (
        *(None, True, None, None, None),
        replica("back").id,
    )
    if lease is not None:
        assert job(database, whole) == before
        assert job(database, "holder") == (replica("back").id,)


async def test_the_rerun_of_a_lost_tick_waits_for_a_trigger_that_came_before_it(database: str) -> None:
    """C-CRASH: the lease that is kept for a rerun is its own alone, never the one of another tick."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead", "back")
        lost = replace(bid(), rerun=True)
        await claim(store, lost, by="dead")
        assert await buried(store, database) == [TICK]
        run(database, "UPDATE onebeat_jobs SET lease_until = clock_timestamp()")
        triggered(database, NEXT)
        asked, again = replace(bid(NEXT), triggered=True), replace(lost, token="again", attempt=2)
        [won] = await claim(store, asked)
        [refused] = await claim(store, again)
        assert (won.ruling, refused.ruling) == (Ruling.WON, Ruling.OVERLAPPED)
        await store.release([ended(asked)], replica=replica())
        [rerun] = await claim(store, again)
        assert rerun.won


async def test_what_was_taken_over_is_nobodys_to_take_up_again(database: str) -> None:
    """F-LOST: by the next tick, with a lease; or by the next attempt."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "dead", "back")
        overtaken, rerun = bid(), replace(bid(replace(TICK, job_id="rerun")), rerun=True)
        await claim(store, overtaken, rerun, by="dead")
        assert await buried(store, database) == [TICK, rerun.tick]
        await claim(store, bid(NEXT), replace(rerun, token="again", attempt=2))
        before = [ticks(database, "*"), job(database, "*"), job(database, "*", "rerun")]
        claims = [Held(one.tick, one.token, HOUR) for one in (overtaken, rerun)]
        assert list(await store.reassert(claims, replica=replica("back"))) == [False, False]
    assert [ticks(database, "*"), job(database, "*"), job(database, "*", "rerun")] == before


async def test_a_server_that_took_over_is_told_of_claims_it_never_heard_of(database: str) -> None:
    """F-LOST, C-ONE: a standby that lagged behind; then nobody wins them again."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, held := bid())
        run(database, "DELETE FROM onebeat_ticks")
        run(database, "UPDATE onebeat_jobs SET watermark = NULL, token = NULL, claimed_tick = NULL, "
                      "lease_until = NULL")  # fmt: skip
        assert list(await store.reassert([Held(TICK, held.token, HOUR)], replica=replica())) == [True]
        [rival] = await claim(store, bid(), by="b")
        [next_] = await claim(store, bid(NEXT), by="b")
    assert (rival.ruling, next_.ruling) == ("claimed", "overlapped")


async def test_records_of_one_statement_may_name_a_tick_twice(database: str) -> None:
    """F-VERDICT: one row a tick, whatever came first; `missed` replaces nothing, and no claim is touched."""
    async with opened(PostgresStore(database)) as (store,):
        await claim(store, bid(NEXT))
        verdicts = (Verdict.MISSED, Verdict.CLAIM_ERROR, Verdict.OVERLAPPED, Verdict.MISSED)
        records = [Record(tick, verdict, "why\0") for verdict in verdicts for tick in (TICK, NEXT)]
        for _ in range(2):
            await store.record(records, replica=replica())
            assert ticks(database, "verdict, provisional, note") == [
                ("overlapped", True, "why\N{REPLACEMENT CHARACTER}"),
                (None, True, None),
            ]


async def test_one_who_leaves_is_waited_for_by_nobody(database: str) -> None:
    """F-BEAT: a run that outlived it is lost once it has been gone for a while."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a", "gone")
        await claim(store, outlived := bid(), by="gone")
        await store.leave(replica=replica("gone"))
        pulse = await beat(store)
        assert (pulse.living, pulse.suspects) == ((replica().id,), False)
        [next_] = await claim(store, bid(NEXT))
        assert next_.won
        await store.release([ended(outlived)], replica=replica("gone"))
    assert ticks(database, "verdict") == [("ran",), (None,)]


async def test_the_timeline_is_the_servers(database: str) -> None:
    """F-BEAT: eight hex digits, which change when a standby takes over."""
    async with opened(PostgresStore(database)) as (store,):
        await join(store, "a")
        assert (await beat(store)).timeline == "00000001"
