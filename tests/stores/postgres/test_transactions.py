"""F-TX: what a transactional body wrote is committed with its claim, or not at all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.errors import RaiseException, UndefinedColumn
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from onebeat import Cancelled, Run, Tick
from onebeat.errors import ClaimFailed, LeaseLost, TimedOut
from onebeat.model import Outcome, Reason, Release, Verdict
from onebeat.stores.postgres import PostgresStore
from onebeat.transactions import Settled
from tests.stores.postgres.given import TICK, replica
from tests.stores.postgres.transacted import EFFECT, Handle, Transacted, handle_on, told

KINDS = [(kind, to_async) for kind in ("url", "psycopg", "sqlalchemy") for to_async in (True, False)]
LOST = "UPDATE onebeat_ticks SET verdict = 'lost', released_at = clock_timestamp()"


def named(kind: tuple[str, bool]) -> str:
    return f"{kind[0]}, {'async' if kind[1] else 'plain'}"


@pytest.fixture(params=KINDS, ids=named)
async def handle(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Handle]:
    kind, to_async = request.param
    async with handle_on(database, kind, to_async=to_async) as given:
        yield given


@pytest.fixture
async def url(database: str) -> AsyncIterator[Handle]:
    """What is the server's doing is the same with every handle: for an `async def`, on a URL."""
    async with handle_on(database, "url", to_async=True) as given:
        yield given


async def test_what_a_body_wrote_is_committed_with_its_claim(handle: Handle) -> None:
    """F-TX: and after the body there is no connection any more."""
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing())
    assert ended.outcome is Outcome.RAN, ended.error
    assert handle.effects() == 1
    assert handle.confirmed()
    assert one.run.connection is None


async def test_what_a_failed_body_wrote_is_not(handle: Handle) -> None:
    """F-TX: the run failed by the body's own error."""

    def fail(run: Run) -> None:
        raise ValueError("no")

    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(fail))
    assert (ended.outcome, str(ended.error)) == (Outcome.FAILED, "no")
    assert handle.effects() == 0
    assert not handle.confirmed()


async def test_what_a_cancelled_body_wrote_is_not_even_if_it_returns(handle: Handle) -> None:
    """F-TX: cancelled before it was done, though it does not mind."""

    def cancel(run: Run) -> None:
        run.when_cancelled(None)
        run.cancel(Cancelled("enough"))

    ended = await (await Transacted(handle).won()).ended(handle.writing(cancel))
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.CANCELLED)
    assert handle.effects() == 0


async def test_a_body_that_is_out_of_time_leaves_nothing(handle: Handle) -> None:
    """F-TX, J-TIME: a coroutine is cancelled in its statement, a thread waited for."""
    one = await Transacted(handle, timeout=0.2).won()

    def outlast(run: Run) -> Any:
        return handle.do(run.connection, "SELECT pg_sleep(30)") if handle.to_async else run.wait()

    ended = await one.ended(handle.writing(outlast))
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.TIMED_OUT)
    assert isinstance(one.run.cause, TimedOut)
    assert handle.effects() == 0


async def test_a_claim_that_was_taken_over_takes_the_effects_along(handle: Handle) -> None:
    """F-TX, F-LOST: judged lost while the body ran, though this replica has not heard of it."""
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(lambda run: told(handle.database, LOST)))
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.LOST)
    assert isinstance(ended.error, LeaseLost)
    assert handle.effects() == 0


async def test_a_later_attempt_is_not_confirmed_by_the_zombie_of_an_earlier_one(handle: Handle) -> None:
    """F-TX, C-CRASH: another replica has the tick, and its claim stays as it is."""
    rival = "UPDATE onebeat_ticks SET token = 'another', attempt = 2"
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(lambda run: told(handle.database, rival)))
    assert isinstance(ended.error, LeaseLost)
    assert handle.effects() == 0
    assert not handle.confirmed()


async def test_nothing_is_locked_while_the_body_runs(handle: Handle) -> None:
    """F-TX: whoever wants the rows of jobs and ticks gets them at once."""
    one = await Transacted(handle).won()

    def look(run: Run) -> None:
        told(handle.database, "SELECT 1 FROM onebeat_jobs FOR UPDATE NOWAIT")
        told(handle.database, "SELECT 1 FROM onebeat_ticks FOR UPDATE NOWAIT")

    ended = await one.ended(handle.writing(look))
    assert ended.outcome is Outcome.RAN, ended.error


async def test_a_body_cannot_commit_on_its_own(handle: Handle) -> None:
    """F-TX: half of its effects without the claim; the driver refuses, and the run fails."""
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(lambda run: run.connection.commit()))
    assert ended.outcome is Outcome.FAILED
    assert "Explicit commit() forbidden" in str(ended.error)
    assert handle.effects() == 0


async def test_a_body_that_ends_the_transaction_by_sql_has_failed(handle: Handle) -> None:
    """F-TX: what it committed so is there, and it is told that."""
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(lambda run: handle.do(run.connection, "COMMIT")))
    assert ended.outcome is Outcome.FAILED
    assert "ended its transaction itself" in str(ended.error)
    assert not handle.confirmed()


async def test_a_body_that_begins_another_transaction_has_failed(handle: Handle) -> None:
    """F-TX: the claim is confirmed in the one that was begun for it, or not at all."""
    one = await Transacted(handle).won()
    ended = await one.ended(handle.writing(lambda run: handle.do(run.connection, "COMMIT; BEGIN")))
    assert ended.outcome is Outcome.FAILED
    assert not handle.confirmed()


async def test_a_body_that_swallows_an_error_of_the_database_has_failed(url: Handle) -> None:
    """F-TX: the server would turn the commit into a rollback, and nobody would have been told."""

    async def swallow(run: Run) -> None:
        with pytest.raises(UndefinedColumn):
            await run.connection.execute("SELECT nonsense")

    one = await Transacted(url).won()
    ended = await one.ended(url.writing(swallow))
    assert ended.outcome is Outcome.FAILED
    assert url.effects() == 0


async def test_a_body_may_look_elsewhere_for_its_tables(handle: Handle) -> None:
    """F-TX: the claim is confirmed wherever its own table is."""
    one = await Transacted(handle).won()
    elsewhere = handle.writing(lambda run: handle.do(run.connection, "SET LOCAL search_path = pg_temp"))
    ended = await one.ended(elsewhere)
    assert ended.outcome is Outcome.RAN, ended.error


async def test_a_borrowed_connection_goes_back_as_it_was(database: str) -> None:
    """D-POOL, F-TX: in autocommit if it was, in no transaction, whatever became of the body."""
    async with AsyncConnectionPool(
        database, min_size=1, max_size=1, kwargs={"autocommit": True}, open=False
    ) as pool:
        told(database, "CREATE TABLE effects (fence bigint NOT NULL)")
        handle = Handle(PostgresStore(pool), database, "psycopg", True)
        bodies = {"good": handle.writing(), "bad": handle.writing(lambda run: 1 / 0)}
        for job_id, body in bodies.items():
            await (await Transacted(handle, Tick(job_id, datetime.now(UTC))).won()).ended(body)
            async with pool.connection() as connection:
                assert connection.autocommit
                assert connection.info.transaction_status.name == "IDLE"
                async with connection.transaction():
                    await connection.execute("SELECT 1")


async def test_waiting_for_a_connection_can_be_called_off(database: str) -> None:
    """F-TX, J-CANCEL: by a plain body's caller too, and the pool is whole again afterwards."""
    with ConnectionPool(database, min_size=1, max_size=1, open=True) as pool:
        told(database, "CREATE TABLE effects (fence bigint NOT NULL)")
        one = await Transacted(Handle(PostgresStore(pool), database, "psycopg", False)).won()
        with pool.connection():
            running = asyncio.ensure_future(one.ended(one.handle.writing()))
            await until(lambda: bool(pool.get_stats().get("requests_waiting")))
            one.run.cancel(Cancelled("enough"))
            ended = await running
        assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.CANCELLED)
        await until(lambda: pool.get_stats()["pool_available"] == 1)
        assert one.handle.effects() == 0


@pytest.mark.parametrize("kind", ["url", "psycopg", "sqlalchemy"])
async def test_a_thread_that_is_left_behind_has_no_connection_any_more(database: str, kind: str) -> None:
    """F-TX, J-CANCEL: an app that cancels every task of its loop ends no thread; it writes nothing more."""
    began, left = threading.Event(), threading.Event()
    told_to: list[Exception] = []

    def linger(run: Run) -> None:
        connection = run.connection
        began.set()
        left.wait()
        try:
            lent.do(connection, EFFECT)
        except Exception as error:
            told_to.append(error)

    async with handle_on(database, kind, to_async=False) as lent:
        one = await Transacted(lent).won()
        running = asyncio.ensure_future(one.ended(lent.writing(linger)))
        await until(began.is_set)
        running.cancel()
        await running
        left.set()
        await until(lambda: bool(told_to))
        assert lent.effects() == 0
        other = await Transacted(lent, Tick("other", TICK.scheduled_at)).won()
        assert (await other.ended(lent.writing())).outcome is Outcome.RAN


async def test_a_body_that_is_closed_around_its_loop_s_end_leaves_no_transaction_open(url: Handle) -> None:
    """F-TX: it can wait for nothing more, so the connection is cut."""
    one = await Transacted(url).won()
    began = asyncio.Event()

    async def linger(run: Run) -> None:
        began.set()
        await asyncio.Event().wait()

    running = one.called(url.writing(linger))
    task = asyncio.ensure_future(running)
    await began.wait()
    running.close()  # as a garbage collector does it: not in the task
    open_ones = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    )
    await until(lambda: told(url.database, open_ones) == 0)
    assert url.effects() == 0
    task.cancel()
    with suppress(asyncio.CancelledError, RuntimeError):
        await task


GUARDED = """
CREATE TABLE seen (setting text);
CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO seen VALUES (current_setting('synchronous_commit'));
    PERFORM pg_advisory_xact_lock(7);
    IF new.fence = 13 THEN RAISE 'not this one'; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION guard();
"""
"""Runs at the commit, after the confirmation: it tells of it, can be made to wait, and to fail."""


async def test_a_commit_is_durable_whatever_the_body_sets(url: Handle) -> None:
    """F-TX, D-PG: an effect that a crash forgets together with its claim would be one that never was."""
    told(url.database, GUARDED)
    one = await Transacted(url).won()
    await one.ended(url.writing(lambda run: run.connection.execute("SET synchronous_commit = off")))
    assert told(url.database, "SELECT setting FROM seen") == "on"


async def test_a_constraint_that_fails_at_the_commit_fails_the_run_by_its_own_error(url: Handle) -> None:
    """F-TX: the claim is not confirmed by a transaction that was rolled back."""
    told(url.database, GUARDED)
    one = await Transacted(url).won()
    ended = await one.ended(
        url.writing(lambda run: run.connection.execute("INSERT INTO effects VALUES (13)"))
    )
    assert isinstance(ended.error, RaiseException)
    assert url.effects() == 0
    assert not url.confirmed()


async def test_whoever_asks_how_it_went_waits_for_the_commit_that_is_under_way(url: Handle) -> None:
    """F-TX: it would be told "not committed" of what is committed a moment later."""
    told(url.database, GUARDED)
    one = await Transacted(url).won()
    transaction = await url.store.begin(one.claim, to_async=True, wait=5)
    await transaction.connection.execute(EFFECT)
    holder = await transaction.connection.connect(url.database)
    await holder.execute("SELECT pg_advisory_lock(7)")
    committing = asyncio.ensure_future(transaction.commit())
    await waiting(url.database, "advisory")
    asking = asyncio.ensure_future(url.store.settle(one.claim))
    await waiting(url.database, "transactionid")
    committing.cancel()  # its answer is lost
    await holder.close()
    assert await asking is Settled.CONFIRMED
    await transaction.end()
    assert url.effects() == 1


async def test_a_commit_that_nobody_can_tell_of_yet_is_told_of_by_its_row(url: Handle) -> None:
    """F-TX, F-VERDICT: reported as failed within the claim timeout, twice over; the release corrects that."""
    told(url.database, GUARDED)
    one = await Transacted(url, claim_timeout=0.2).won()
    async with await AsyncConnection.connect(url.database, autocommit=True) as holder:
        await holder.execute("SELECT pg_advisory_lock(7)")
        ended = await one.ended(url.writing())
    assert isinstance(ended.error, ClaimFailed)
    assert "could not be found out" in str(ended.error)
    failed = Release(one.bid.tick, one.bid.token, Verdict.FAILED, error=str(ended.error))
    await url.store.release([failed], replica=replica())
    assert url.effects() == 1
    assert told(url.database, "SELECT verdict FROM onebeat_ticks") == "ran"


async def test_a_confirmation_that_comes_after_the_question_is_refused(url: Handle) -> None:
    """F-TX: once it was said that nothing was committed, nothing can be any more."""
    one = await Transacted(url).won()
    transaction = await url.store.begin(one.claim, to_async=True, wait=5)
    await transaction.connection.execute(EFFECT)
    assert await url.store.settle(one.claim) is Settled.WITHDRAWN
    with pytest.raises(Exception, match="division by zero"):
        await transaction.commit()
    await transaction.end()
    assert url.effects() == 0
    assert await url.store.settle(one.claim) is Settled.WITHDRAWN


async def test_a_release_that_does_not_know_of_the_commit_says_that_it_ran(url: Handle) -> None:
    """F-TX, F-VERDICT: the row knows better than a replica whose question was never answered."""
    one = await Transacted(url).won()
    await one.ended(url.writing())
    failed = Release(one.bid.tick, one.bid.token, Verdict.FAILED, error="not known")
    await url.store.release([failed], replica=replica())
    assert told(url.database, "SELECT verdict || coalesce(note, '') FROM onebeat_ticks") == "ran"
    assert told(url.database, "SELECT last_verdict FROM onebeat_jobs") == "ran"


async def waiting(database: str, event: str) -> None:
    """Return when a statement waits for a lock of this kind."""
    events = "SELECT string_agg(wait_event, ' ') FROM pg_stat_activity WHERE datname = current_database()"
    await until(lambda: event in str(told(database, events)))


async def until(is_so: Callable[[], bool]) -> None:
    while True:
        if is_so():
            return
        await asyncio.sleep(0)
