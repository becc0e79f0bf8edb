"""From a due tick to its claim, its run and its release; a store that fails on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from onebeat import ClaimFailed, ClaimFailure, Scheduler, ShuttingDown, cron, every
from onebeat.engine.error_text import bounded_text
from onebeat.events import (
    ClaimAnswered,
    ClaimStatementFailed,
    ClockAhead,
    ReleaseFailed,
    StoreRecovered,
    WatermarkAhead,
)
from onebeat.model import TRACEBACK, Answer, Bid, Outcome, Reason, Release, Replica, Ruling, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from tests.engine.given import Gate, Given, Through


class Failing(Through):
    """Raises what it is given for as many claims (or releases) as told; `landing`: after they landed."""

    def __init__(
        self, inner: Any, clock: Any, *, error: Exception, claims: int = 0, releases: int = 0
    ) -> None:
        super().__init__(inner)
        self.clock, self.error = clock, error
        self.claims_left, self.releases_left = claims, releases
        self.landing = False

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        answers = await super().claim(bids, replica=replica, timeout=timeout) if self.landing else None
        if self.claims_left:
            self.claims_left -= 1
            raise self.error
        return answers or await super().claim(bids, replica=replica, timeout=timeout)

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        if self.releases_left:
            self.releases_left -= 1
            raise self.error
        await super().release(releases, replica=replica)


class Slow(Through):
    """Answers after as many seconds of the test's clock; what it decided stands from the start."""

    def __init__(self, inner: Any, clock: Any, seconds: float) -> None:
        super().__init__(inner)
        self.clock, self.seconds = clock, seconds
        self.given_up = 0

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        answers = await super().claim(bids, replica=replica, timeout=timeout)
        try:
            await self.clock.sleep(self.seconds)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return answers


def one_job(
    given: Given, store: Any, body: Any = lambda: None, period: int = 60, **settings: Any
) -> Scheduler:
    scheduler = given.scheduler(store, **settings)
    scheduler.add("a", every(period), body)
    return scheduler


async def test_of_three_replicas_one_runs_each_tick_and_two_skip_it(given: Given) -> None:
    """C-ONE: the losers' outcome is claimed."""
    async with (
        one_job(given, given.store, replica="x"),
        one_job(given, given.store, replica="y"),
        one_job(given, given.store, replica="z"),
    ):
        await given.clock.advance(minutes=10, seconds=1)
    assert len(given.recorder.ran("a")) == len(set(given.recorder.ran("a"))) == 10
    skipped = [event for event in given.recorder.ended() if event.reason is Reason.CLAIMED]
    assert len(skipped) == 20
    assert {event.claimed_by for event in skipped} <= {"x", "y", "z"}


async def test_a_job_on_every_replica_never_asks_the_store(given: Given) -> None:
    """C-EVERY-REPLICA: every tick fires on both."""
    store = Through(given.store)
    first, second = given.scheduler(store), given.scheduler(store)
    for scheduler in (first, second):
        scheduler.add("a", every(60), lambda: None, on_every_replica=True)
    async with first, second:
        await given.clock.advance(minutes=2)
    assert len(given.recorder.ran("a")) == 4
    assert store.claims == []


async def test_bids_of_one_moment_go_out_in_few_statements(given: Given) -> None:
    """C-BATCH: what piles up goes in the next, never more than 1,000; releases of one moment likewise."""
    store = Through(given.store)
    scheduler = given.scheduler(store)
    for number in range(2_500):

        async def body() -> None: ...

        scheduler.add(f"job {number}", every(60), body)
    async with scheduler:
        await given.clock.advance(seconds=60)
    sizes = [len(bids) for bids in store.claims]
    assert sum(sizes) == 2_500
    assert len(sizes) <= 5
    assert max(sizes) <= 1_000
    assert sum(len(releases) for releases in store.releases) == 2_500
    assert len(store.releases) <= 10
    assert given.recorder.outcomes() == {Outcome.RAN: 2_500}


async def test_a_claim_whose_connection_broke_is_asked_again_with_the_same_token(given: Given) -> None:
    """C-TOKEN: the answer was lost after the commit; asked again it says "yours", and the tick runs."""
    store = Failing(given.store, given.clock, error=ClaimFailed("connection lost"), claims=2)
    store.landing = True
    async with one_job(given, store):
        await given.clock.advance(seconds=62)
    assert len(given.recorder.ran("a")) == 1
    assert len({bid.token for bids in store.claims for bid in bids}) == 1
    assert [event.again for event in given.recorder.of(ClaimStatementFailed)] == [True, True]
    assert [event.failures for event in given.recorder.of(StoreRecovered)] == [2]


async def test_a_claim_undecided_within_the_claim_timeout_costs_the_tick_and_one_record(given: Given) -> None:
    """C-ERROR: missing a tick beats running it twice."""
    store = Failing(given.store, given.clock, error=ClaimFailed("down"), claims=10_000)
    scheduler = given.scheduler(store)
    for name in ("a", "b"):
        scheduler.add(name, every(60), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=71)
        assert scheduler.active == 0
        store.claims_left = 0
        await given.clock.advance(seconds=60)
    costly = [event for event in given.recorder.of(ClaimStatementFailed) if event.ticks]
    assert [(event.ticks, event.error.failure) for event in costly] == [(2, ClaimFailure.UNAVAILABLE)]
    lost = [event for event in given.recorder.ended() if event.outcome is Outcome.CLAIM_ERROR]
    assert {(event.tick.job_id, event.reason) for event in lost} == {
        ("a", Reason.UNAVAILABLE),
        ("b", Reason.UNAVAILABLE),
    }
    assert len(given.recorder.ran("a")) == len(given.recorder.ran("b")) == 1


async def test_a_statement_still_out_at_the_timeout_is_not_cancelled_and_its_win_is_released(
    given: Given,
) -> None:
    """C-CANCEL, C-ERROR: it may have landed; what it won too late never runs and blocks nobody."""
    store = Slow(given.store, given.clock, seconds=15)
    async with one_job(given, store):
        await given.clock.advance(seconds=71)
        [lost] = given.recorder.ended("a")
        assert (lost.outcome, lost.reason) == (Outcome.CLAIM_ERROR, Reason.TIMEOUT)
        await given.clock.advance(seconds=5)
        [[release]] = store.releases
        assert (release.tick, release.verdict) == (lost.tick, Verdict.CLAIM_ERROR)
        store.seconds = 0
        await given.clock.advance(seconds=45)
    assert len(given.recorder.ran("a")) == 1
    assert store.given_up == 0


async def test_a_statement_that_never_answers_is_given_up_at_twice_the_timeout(given: Given) -> None:
    """C-CANCEL: then its connection is closed, and its token released."""
    store = Slow(given.store, given.clock, seconds=1_000)
    async with one_job(given, store):
        await given.clock.advance(seconds=79)
        assert store.given_up == 0
        await given.clock.advance(seconds=2)
        assert store.given_up == 1
        assert [release.verdict for batch in store.releases for release in batch] == [Verdict.CLAIM_ERROR]


async def test_other_bids_go_out_while_a_statement_is_stuck(given: Given) -> None:
    """C-BATCH, D-DOWN: a stuck statement holds the next ones for its claim timeout, no longer."""

    class StuckWithA(Through):
        async def claim(
            self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta
        ) -> Sequence[Answer]:
            if bids[0].tick.job_id == "a":
                await given.clock.sleep(1_000)
            return await super().claim(bids, replica=replica, timeout=timeout)

    scheduler = given.scheduler(StuckWithA(given.store))
    scheduler.add("a", every(60), lambda: None)
    scheduler.add("b", cron("5 * * * * *", seconds=True), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=72)
        assert len(given.recorder.ran("b")) == 2
        await given.clock.advance(seconds=20)


async def test_one_bad_bid_fails_alone(given: Given) -> None:
    """C-BATCH: the statement it spoiled is asked again in halves."""

    class Picky(Through):
        async def claim(
            self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta
        ) -> Sequence[Answer]:
            if any(bid.tick.job_id == "bad" for bid in bids):
                self.claims.append([])
                raise ClaimFailed("bad bid", ClaimFailure.REFUSED)
            return await super().claim(bids, replica=replica, timeout=timeout)

        async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
            if any(release.tick.job_id == "unreleasable" for release in releases):
                raise ClaimFailed("bad release", ClaimFailure.REFUSED)
            await super().release(releases, replica=replica)

    store = Picky(given.store)
    scheduler = given.scheduler(store)
    for name in (*"abcdefgh", "bad", "unreleasable"):
        scheduler.add(name, every(60), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=60)
    assert given.recorder.outcomes() == {Outcome.RAN: 9, Outcome.CLAIM_ERROR: 1}
    [bad] = given.recorder.ended("bad")
    assert bad.reason is Reason.REFUSED
    assert sorted(r.tick.job_id for batch in store.releases for r in batch) == list("abcdefgh")
    assert [event.job_ids for event in given.recorder.of(ReleaseFailed)] == [("unreleasable",)]


async def test_a_conflict_is_asked_again_and_is_no_claim_error(given: Given) -> None:
    """D-PG: 40001 and 40P01 are retried with the same tokens; nobody is told."""
    store = Failing(
        given.store, given.clock, error=ClaimFailed("40001", ClaimFailure.CONFLICT), claims=4, releases=2
    )
    async with one_job(given, store):
        await given.clock.advance(seconds=61)
    assert len(given.recorder.ran("a")) == 1
    assert not given.recorder.of(ClaimStatementFailed)
    assert not given.recorder.of(ReleaseFailed)
    assert len(store.releases) == 1


async def test_a_store_that_raises_anything_else_costs_ticks_not_the_scheduler(given: Given) -> None:
    """D-DOWN: a store written elsewhere may have bugs."""
    store = Failing(given.store, given.clock, error=ZeroDivisionError("bug"), claims=1)
    async with one_job(given, store):
        await given.clock.advance(seconds=61)
    assert len(given.recorder.ran("a")) == 1


async def test_a_release_that_fails_is_one_error_and_retried_in_the_background(given: Given) -> None:
    """C-RELEASE: the outcome stands, the pending run starts, the next tick is not blocked for the lease."""
    ran: list[str] = []
    store = Failing(given.store, given.clock, error=ClaimFailed("down"), releases=3)
    async with one_job(given, store, period=60) as scheduler:
        await given.clock.advance(seconds=59)

        def pending() -> None:
            ran.append("pending")

        await given.clock.advance(seconds=1)
        scheduler.run_next("a", pending)
        await given.clock.advance(seconds=10)
        assert ran == ["pending"]
        await given.clock.advance(seconds=50)
    assert len(given.recorder.of(ReleaseFailed)) == 1
    assert len(given.recorder.ran("a")) == 2
    assert len(store.releases) == 2


async def test_release_comes_before_the_pending_run_and_is_bounded_by_the_claim_timeout(given: Given) -> None:
    """C-RELEASE: a store that hangs in a release holds the pending run for the claim timeout only."""
    order: list[str] = []

    class Hanging(Through):
        async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
            order.append("release")
            await given.clock.sleep(1_000)

    gate = Gate()
    async with one_job(given, Hanging(given.store), gate.named("tick"), shutdown_timeout=20) as scheduler:
        await given.clock.advance(seconds=60)
        scheduler.run_next("a", lambda: order.append("pending"))
        gate.open()
        await given.clock.advance(seconds=9)
        assert order == ["release"]
        await given.clock.advance(seconds=1)
        assert order[:2] == ["release", "pending"]
        closing = asyncio.ensure_future(given.clock.advance(seconds=60))
        await asyncio.sleep(0)
    await closing


@pytest.mark.parametrize("how", ["supersede", "stop"])
async def test_giving_up_on_a_claim_leaves_the_statement_alone_and_releases_its_win(
    given: Given, how: str
) -> None:
    """C-CANCEL: the id stays busy until the answer is read; the body never runs."""
    ran: list[str] = []
    store = Slow(given.store, given.clock, seconds=5)
    scheduler = one_job(given, store, lambda: ran.append("tick"))
    serving = asyncio.ensure_future(scheduler.serve())
    await given.clock.advance(seconds=61)
    assert scheduler.active == 1
    if how == "supersede":
        scheduler.supersede("a", lambda: ran.append("newer"))
    else:
        scheduler.stop()
    await given.clock.advance(seconds=3)
    assert (ran, scheduler.active) == ([], 1)
    await given.clock.advance(seconds=1)
    assert ran == (["newer"] if how == "supersede" else [])
    [skipped] = given.recorder.ended("a")
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, Reason.CANCELLED)
    assert [r.verdict for batch in store.releases for r in batch] == [Verdict.CANCELLED]
    scheduler.stop()
    await given.clock.advance(seconds=1)
    await serving
    assert store.given_up == 0


async def test_a_cancelled_claim_that_fails_is_no_claim_error(given: Given) -> None:
    """C-ERROR: not when the run was cancelled."""
    store = Failing(given.store, given.clock, error=ClaimFailed("down"), claims=10_000)
    async with one_job(given, store) as scheduler:
        await given.clock.advance(seconds=61)
        scheduler.supersede("a", lambda: None)
        await given.clock.advance(seconds=10)
    [skipped] = given.recorder.ended("a")
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, Reason.CANCELLED)
    assert [event for event in given.recorder.of(ClaimStatementFailed) if event.ticks] == []


async def test_a_lone_fast_replica_bids_again_when_the_stores_clock_gets_there(given: Given) -> None:
    """C-EARLY: refused at first, every tick still runs, on time by the store's clock, and none is busy."""
    from onebeat.stores.memory import MemoryStore
    from onebeat.testing.clock import FakeClock

    true_time = FakeClock(given.clock.now() - timedelta(seconds=8))
    store = Through(MemoryStore(clock=true_time))
    async with one_job(given, store, period=2):
        for _ in range(20):
            await true_time.advance(seconds=1)
            await given.clock.advance(seconds=1)
    ran = given.recorder.ran("a")
    assert len(ran) == len(set(ran)) >= 5
    assert given.recorder.outcomes().keys() <= {Outcome.RAN, Outcome.SKIPPED}
    assert {event.reason for event in given.recorder.ended() if event.outcome is Outcome.SKIPPED} <= {
        Reason.CANCELLED
    }
    assert round(given.recorder.of(ClockAhead)[0].skew) == 8


async def test_a_bid_refused_as_early_twice_is_a_claim_error(given: Given) -> None:
    """C-EARLY: bid again once, not for ever."""

    class Yesterday(Through):
        async def claim(
            self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta
        ) -> Sequence[Answer]:
            self.claims.append(list(bids))
            store_time = bids[0].tick.scheduled_at - timedelta(seconds=7)
            return [Answer(bid.tick, bid.token, Ruling.EARLY, store_time) for bid in bids]

    store = Yesterday(given.store)
    async with one_job(given, store):
        await given.clock.advance(seconds=68)
    [refused] = given.recorder.ended("a")
    assert (refused.outcome, refused.reason) == (Outcome.CLAIM_ERROR, Reason.REFUSED)
    assert len(store.claims) == 2


async def test_a_watermark_beyond_the_stores_tolerance_is_reported_and_one_within_is_not(
    given: Given,
) -> None:
    """C-EARLY: once the store's clock has been set back, say; nothing repairs it by itself."""
    store = MemoryStore(clock=given.clock, tolerance=30)
    async with one_job(given, store, period=60):
        await given.clock.advance(seconds=60)
        for back, told in ((20, 0), (600, 1)):
            given.clock.step(timedelta(seconds=-back))
            rival = Bid(Tick("a", given.clock.now()), "rival", timedelta(seconds=1))
            [answer] = await store.claim([rival], replica=Replica("default", "r", "r"), timeout=timedelta(10))
            assert answer.ruling is Ruling.CLAIMED
            await given.clock.advance(seconds=60 - given.clock.now().second)
            assert len({event.job_id for event in given.recorder.of(WatermarkAhead)}) == told


async def test_each_statement_is_told_with_its_bids_and_wins(given: Given) -> None:
    """T-EVENT: one ClaimAnswered a statement."""
    async with one_job(given, given.store), one_job(given, given.store):
        await given.clock.advance(seconds=61)
    told = [(event.bids, event.won) for event in given.recorder.of(ClaimAnswered)]
    assert sorted(told) == [(1, 0), (1, 1)]


async def test_a_run_carries_fence_attempt_and_replica_and_its_verdict_is_released(given: Given) -> None:
    """F-FENCE, C-ID: what a body may know of its claim."""
    seen: list[Any] = []
    store = Through(given.store)

    async def body(run: Any) -> None:
        seen.append((run.fence, run.attempt, run.replica, run.scheduled_at))
        if len(seen) == 2:
            raise ValueError("a\0b")

    async with one_job(given, store, body, replica="pod-7"):
        await given.clock.advance(minutes=2)
    (fence, attempt, label, scheduled_at), (later_fence, *_) = seen
    assert (attempt, label, scheduled_at) == (1, "pod-7", given.recorder.ended("a")[0].tick.scheduled_at)
    assert later_fence > fence > 0
    ran, failed = (release for batch in store.releases for release in batch)
    assert (ran.verdict, failed.verdict) == (Verdict.RAN, Verdict.FAILED)
    assert failed.error is not None
    assert failed.error.startswith(f"ValueError: a\\0b{TRACEBACK}Traceback (most recent call last):")
    assert failed.error.endswith("ValueError: a\\0b")
    assert failed.started_at == failed.finished_at == failed.tick.scheduled_at


def test_an_error_is_stored_as_bounded_text_that_any_database_takes() -> None:
    """C-RELEASE: whatever a body raises, its release is no bad one."""

    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError

    assert bounded_text(ValueError("a\0b\ud800")) == "ValueError: a\\0b\\ud800"
    assert bounded_text(Unprintable()) == "Unprintable (its text raised ZeroDivisionError)"
    assert len(bounded_text(ValueError("\ud800" * 10_000))) == 2_000
    raised = bounded_text(caught(Unprintable()))
    assert raised.startswith(f"Unprintable (its text raised ZeroDivisionError){TRACEBACK}Traceback")


def test_of_a_long_traceback_the_end_is_stored() -> None:
    """F-VERDICT: what is nearest to what went wrong."""
    text = bounded_text(caught(ValueError("x" * 50_000 + "\0the end")))
    said, trace = text.split(TRACEBACK)
    assert (len(said), len(trace)) == (2_000, 6_000)
    assert trace.endswith("xx\\0the end")


def caught(error: Exception) -> Exception:
    """As one that was raised."""
    try:
        raise error
    except type(error) as again:
        return again


async def test_a_tick_cancelled_at_shutdown_while_it_runs_is_released_as_cancelled(given: Given) -> None:
    """X-STOP, C-RELEASE: inside the shutdown timeout."""
    gate, store = Gate(), Through(given.store)
    async with one_job(given, store, gate.named("tick")):
        await given.clock.advance(seconds=60)
    [ended] = given.recorder.ended("a")
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, Reason.CANCELLED)
    assert isinstance(ended.error, ShuttingDown)
    assert [r.verdict for batch in store.releases for r in batch] == [Verdict.CANCELLED]


def raising(error: BaseException) -> Any:
    def call(*_: object) -> None:
        raise error

    return call


class Odd(Through):
    """A store written elsewhere, with a mistake in it."""

    def __init__(self, inner: Any, claim: Any = None, release: Any = None) -> None:
        super().__init__(inner)
        self._claimed = claim or (lambda answers: answers)
        self._released = release or (lambda: None)

    def mend(self) -> None:
        self._released = lambda: None

    async def claim(self, bids: Sequence[Bid], **asked: Any) -> Any:
        return self._claimed(await super().claim(bids, **asked))

    def release(self, releases: Sequence[Release], **asked: Any) -> Any:
        self._released()
        return super().release(releases, **asked)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda answers: answers[:1],
        lambda answers: answers[::-1],
        lambda answers: None,
        lambda answers: [replace(answer, store_time=datetime(2026, 1, 1)) for answer in answers],  # noqa: DTZ001
        raising(SystemExit(3)),
    ],
    ids=["too few", "in another order", "nothing", "naive times", "SystemExit"],
)
async def test_answers_that_cannot_be_told_apart_are_no_answers(given: Given, mistake: Any) -> None:
    """C-ONE: nothing runs on another bid's win; C-ERROR: it costs the ticks, and what was won is released."""
    scheduler = given.scheduler(Odd(given.store, mistake), claim_timeout=1)
    for job_id in ("a", "b"):
        scheduler.add(job_id, every(60), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=65)
    assert given.recorder.outcomes() == {Outcome.CLAIM_ERROR: 2}
    rival = given.scheduler(given.store)
    rival.add("a", every(60), lambda: None)
    async with rival:
        await given.clock.advance(seconds=60)
    assert len(given.recorder.ran("a")) == 1


@pytest.mark.parametrize("error", [SystemExit(3), ValueError("x")], ids=repr)
async def test_a_store_whose_release_raises_at_once_costs_releases_not_claims(
    given: Given, error: BaseException
) -> None:
    """D-DOWN: nor the scheduler."""
    store = Odd(given.store, release=raising(error))
    scheduler = given.scheduler(store)
    scheduler.add("a", every(60), lambda: None, overlap="allow")
    async with scheduler:
        await given.clock.advance(minutes=3)
        store.mend()
        await given.clock.advance(seconds=5)
    assert len(given.recorder.ran("a")) == 3
    assert len(given.recorder.of(ReleaseFailed)) == 3
