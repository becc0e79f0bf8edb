"""Heartbeats of real schedulers on one store: deaths, returns, and what they cost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onebeat import Run, Scheduler, every
from onebeat.errors import ClaimFailed, LeaseLost
from onebeat.events import BeatFailed, FailedOver, ReplicaLapsed, TicksLost
from onebeat.fleet import Buried, Facts, Held, Pulse, Registered, Registration
from onebeat.history import TickFilter
from onebeat.model import Answer, Bid, Record, Release, Replica, Tick, Verdict
from onebeat.stores.memory import MemoryStore
from tests.engine.given import Gate, Given

TTL = 8
"""Seconds; every beat comes within two."""


class Line:
    """One replica's way to the store, which can be cut."""

    label = "memory, at the other end of a line"
    loop_bound = None
    tolerance = timedelta(seconds=5)

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.cut = False
        self.beats = 0

    def _reach(self) -> MemoryStore:
        if self.cut:
            raise ClaimFailed("the line is cut")
        return self._store

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return await self._reach().claim(bids, replica=replica, timeout=timeout)

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        await self._reach().release(releases, replica=replica)

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await self._reach().prune(app=app, keep=keep, most=most, limit=limit)

    async def repair(self, *, app: str, job_id: str) -> bool:
        return await self._reach().repair(app=app, job_id=job_id)

    async def join(
        self, registrations: Sequence[Registration], *, replica: Replica, facts: Facts, now: Any
    ) -> Sequence[Registered]:
        return await self._reach().join(registrations, replica=replica, facts=facts, now=now)

    async def beat(self, *, replica: Replica, now: Any, ttl: timedelta) -> Pulse:
        self.beats += 1
        return await self._reach().beat(replica=replica, now=now, ttl=ttl)

    async def bury(self, *, replica: Replica, ttl: timedelta) -> Sequence[Buried]:
        return await self._reach().bury(replica=replica, ttl=ttl)

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        return await self._reach().reassert(claims, replica=replica)

    async def record(self, records: Sequence[Record], *, replica: Replica) -> None:
        await self._reach().record(records, replica=replica)

    async def leave(self, *, replica: Replica) -> None:
        await self._reach().leave(replica=replica)

    async def asked(self, *, app: str) -> None:
        await self._reach().asked(app=app)

    async def close(self) -> None: ...


class Two:
    """Replica a, which begins the first run of the job alone and can be cut off; b, which lives."""

    def __init__(self, given: Given, period: int = 10, **policy: Any) -> None:
        self.given = given
        self.line = Line(given.store)
        self.gate = Gate()
        self.runs: list[tuple[str, int, int]] = []
        self.causes: list[object] = []
        self.a = given.scheduler(self.line, replica="a", ttl=TTL, claim_timeout=1)
        self.b = given.scheduler(given.store, replica="b", ttl=TTL, claim_timeout=1)
        self.a.add("job", every(period), self._held, timeout=3600, **policy)
        self.b.add("job", every(period), self._quick, timeout=3600, **policy)

    async def first_run_of_a(self) -> None:
        """Until a is in its run."""
        while not self.gate.began:
            await self.given.clock.advance(seconds=1)

    async def _held(self, run: Run) -> None:
        self.runs.append(("a", self._second(run), run.attempt))
        try:
            await self.gate.named("a")()
        finally:
            self.causes.append(run.cause)

    async def _quick(self, run: Run) -> None:
        self.runs.append(("b", self._second(run), run.attempt))

    def _second(self, run: Run) -> int:
        assert run.scheduled_at is not None  # ticks alone
        return int(run.scheduled_at.timestamp())

    async def verdicts(self) -> dict[int, Verdict | None]:
        page = await self.given.store.ticks(TickFilter(), app="default", limit=1000)
        return {int(row.tick.scheduled_at.timestamp()): row.verdict for row in page.rows}


async def started(two: Two) -> tuple[Any, Any]:
    """a in its first run, b up and healthy."""
    a = await two.a.__aenter__()
    await two.first_run_of_a()
    b = await two.b.__aenter__()
    await two.given.clock.advance(seconds=TTL + 2)
    return a, b


async def stopped(two: Two) -> None:
    two.line.cut = False
    two.gate.open()
    await two.given.clock.advance(seconds=TTL)  # what a could not say while it was cut off, it says now
    await two.b.__aexit__(None, None, None)
    await two.a.__aexit__(None, None, None)


async def test_a_death_costs_its_job_a_time_to_live_and_a_period(given: Given) -> None:
    """F-BEAT, F-JUDGE, C-CRASH: the claim stops blocking when its holder has lapsed, an hour before its lease
    ends; the tick is lost, and said to be."""
    two = Two(given)
    await started(two)
    lost = two.runs[0][1]
    two.line.cut = True
    cut_at = int(given.clock.now().timestamp())
    await given.clock.advance(seconds=TTL + TTL // 4 + 10)
    assert [name for name, _, _ in two.runs] == ["a"] + ["b"] * (len(two.runs) - 1)
    assert len(two.runs) > 1
    assert two.runs[1][1] <= cut_at + TTL + TTL // 4 + 10
    assert (await two.verdicts())[lost] is Verdict.LOST
    [buried] = given.recorder.of(TicksLost)
    assert [int(tick.scheduled_at.timestamp()) for tick in buried.ticks] == [lost]
    await stopped(two)


async def test_a_replica_that_returns_from_the_dead_cancels_what_was_taken_over(given: Given) -> None:
    """F-LOST: the cause is LeaseLost; it joins anew, and its failures to beat are told once."""
    two = Two(given)
    await started(two)
    two.line.cut = True
    await given.clock.advance(seconds=TTL * 2 + 10)
    assert any(name == "b" for name, _, _ in two.runs)
    two.line.cut = False
    await given.clock.advance(seconds=TTL)
    assert [type(cause) for cause in two.causes] == [LeaseLost]
    [lapsed] = given.recorder.of(ReplicaLapsed)
    assert [tick.job_id for tick in lapsed.lost] == ["job"]
    assert lapsed.kept == ()
    assert len(given.recorder.of(BeatFailed)) == 1
    await stopped(two)


async def test_a_replica_that_returns_keeps_what_nobody_has_taken_over(given: Given) -> None:
    """F-LOST: those that were taken over, and only those."""
    two = Two(given, period=3600)
    await started(two)
    two.line.cut = True
    await given.clock.advance(seconds=TTL * 2)
    assert len(given.recorder.of(TicksLost)) == 1
    two.line.cut = False
    await given.clock.advance(seconds=TTL)
    [lapsed] = given.recorder.of(ReplicaLapsed)
    assert (len(lapsed.kept), lapsed.lost) == (1, ())
    assert two.causes == []
    two.gate.open()
    await given.clock.advance(seconds=1)
    assert two.causes == [None]
    assert set((await two.verdicts()).values()) == {Verdict.RAN}
    await stopped(two)


async def test_an_outage_for_all_kills_nobody(given: Given) -> None:
    """F-JUDGE: a database outage of three times the time to live ends no lease."""
    two = Two(given, period=10)
    two.b = given.scheduler(line := Line(given.store), replica="b", ttl=TTL, claim_timeout=1)
    two.b.add("job", every(10), two._quick, timeout=3600)
    await started(two)
    two.line.cut = line.cut = True
    await given.clock.advance(seconds=3 * TTL)
    two.line.cut = line.cut = False
    await given.clock.advance(seconds=4 * TTL)
    assert given.recorder.of(TicksLost) == []
    assert given.recorder.of(ReplicaLapsed) == []
    assert [name for name, _, _ in two.runs] == ["a"]
    await stopped(two)


async def test_a_lost_tick_runs_again_elsewhere_where_the_job_asks_for_it(given: Given) -> None:
    """C-CRASH: on_lost="rerun": the next attempt, once, while no later tick was claimed."""
    two = Two(given, period=3600, on_lost="rerun")
    await started(two)
    first = two.runs[0][1]
    two.line.cut = True
    await given.clock.advance(seconds=3 * TTL)
    assert two.runs == [("a", first, 1), ("b", first, 2)]
    assert (await two.verdicts())[first] is Verdict.RAN
    two.line.cut = False
    await given.clock.advance(seconds=3 * TTL)
    assert [type(cause) for cause in two.causes] == [LeaseLost]
    assert len(two.runs) == 2
    await stopped(two)


async def test_a_lost_tick_runs_again_before_the_jobs_next_one(given: Given) -> None:
    """C-CRASH: whoever has judged asks for it at once, or a job that comes often would never rerun any."""
    two = Two(given, period=1, on_lost="rerun")
    await started(two)
    first = two.runs[0][1]
    two.line.cut = True
    await given.clock.advance(seconds=3 * TTL)
    assert two.runs[:2] == [("a", first, 1), ("b", first, 2)]
    assert all(attempt == 1 for _, _, attempt in two.runs[2:])
    await stopped(two)


async def test_an_idle_replica_asks_four_times_in_its_time_to_live(given: Given) -> None:
    """F-BEAT: one renewal every quarter of it, whatever the number of jobs."""
    line = Line(given.store)
    scheduler = given.scheduler(line, ttl=60)
    for number in range(100):
        scheduler.add(f"job {number}", every(days=30), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=1)
        before = line.beats
        await given.clock.advance(minutes=10)
    assert line.beats - before == 40


async def test_who_stops_in_order_is_not_waited_for(given: Given) -> None:
    """The others know at once that it is gone: nothing is lost, nobody is declared dead."""
    one, other = given.scheduler(given.store, ttl=TTL), given.scheduler(given.store, ttl=TTL)
    async with one:
        async with other:
            await given.clock.advance(seconds=TTL)
        await given.clock.advance(seconds=4 * TTL)
        living = [replica for replica in await given.store.replicas(app="default") if not replica.dead_at]
        assert [replica.id for replica in living] == [one._serving().session.here.replica.id]
    assert given.recorder.of(TicksLost) == []


class Standby(Line):
    """A server behind an address; one that knows nothing takes over."""

    timeline = "00000001"

    def take_over(self, store: MemoryStore) -> None:
        self._store, self.timeline, self.cut = store, "00000002", False

    async def beat(self, *, replica: Replica, now: Any, ttl: timedelta) -> Pulse:
        return replace(await super().beat(replica=replica, now=now, ttl=ttl), timeline=self.timeline)


async def test_what_a_server_that_takes_over_does_not_know_is_told_again(given: Given) -> None:
    """F-DRIFT: after a failover to another timeline recent claims are asserted again, and it is said: a tick
    that has run is won by nobody there, and what runs goes on."""
    line, standby, gate = Standby(given.store), MemoryStore(clock=given.clock), Gate()
    scheduler = given.scheduler(line, ttl=TTL)
    scheduler.add("ended", every(60), lambda: None)
    scheduler.add("runs", every(60), gate.named("runs"))
    async with scheduler:
        await given.clock.advance(seconds=60)
        [ended] = given.recorder.ran("ended")
        line.take_over(standby)
        await given.clock.advance(seconds=TTL)
        rival = Replica("default", "rival", "rival")
        bids = [
            Bid(Tick(job_id, ended), f"rival {job_id}", timedelta(hours=1)) for job_id in ("ended", "runs")
        ]
        answers = await standby.claim(bids, replica=rival, timeout=timedelta(seconds=1))
        assert [answer.won for answer in answers] == [False, False]
        [told] = given.recorder.of(FailedOver)
        assert (told.timeline, told.asserted, told.lost) == ("00000002", 2, ())
        gate.open()
        await given.clock.advance(seconds=1)
        assert len(given.recorder.ran("runs")) == 1


class Lagging(Standby):
    """While it follows, the standby hears of claims, perhaps of replicas, but of no release."""

    def __init__(self, store: MemoryStore, standby: MemoryStore, *, hears_of_replicas: bool) -> None:
        super().__init__(store)
        self._standby = standby
        self._hears_of_replicas = hears_of_replicas
        self.follows = True

    async def join(self, registrations: Sequence[Registration], **more: Any) -> Sequence[Registered]:
        if self._hears_of_replicas:
            await self._standby.join(registrations, **more)
        return await super().join(registrations, **more)

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        if self.follows:
            await self._standby.claim(bids, replica=replica, timeout=timeout)
        return await super().claim(bids, replica=replica, timeout=timeout)


@pytest.mark.parametrize("known", [True, False], ids=["a known replica", "an unknown replica"])
async def test_what_still_runs_on_the_standby_alone_is_not_in_the_way_of_what_runs(
    given: Given, known: bool
) -> None:
    """F-DRIFT: a run that goes on is not cancelled because the standby missed the end of the one before, nor
    where the replica has to join anew there."""
    standby, gate = MemoryStore(clock=given.clock), Gate()
    line = Lagging(given.store, standby, hears_of_replicas=known)

    async def body() -> None:
        if not line.follows:
            await gate.named("runs")()

    scheduler = given.scheduler(line, ttl=TTL)
    scheduler.add("job", every(60), body)
    async with scheduler:
        await given.clock.advance(seconds=60)
        assert len(given.recorder.ran("job")) == 1
        line.follows = False
        await given.clock.advance(seconds=60)
        assert gate.began == ["runs"]
        line.take_over(standby)
        await given.clock.advance(seconds=TTL)
        [told] = given.recorder.of(FailedOver)
        assert (gate.cancelled, told.lost) == ([], ())
        gate.open()
        await given.clock.advance(seconds=1)
    assert gate.ended == ["runs"]


async def test_every_tick_that_ended_of_late_is_told_again(given: Given) -> None:
    """F-DRIFT: all of each job's, the oldest first and each with the one before it, so that none reads as
    missed there; one a job in a statement (C-BATCH)."""
    line, standby = Standby(given.store), MemoryStore(clock=given.clock)
    scheduler = given.scheduler(line, ttl=60)
    for job_id in ("a", "b"):
        scheduler.add(job_id, every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=41)
        line.take_over(standby)
        await given.clock.advance(seconds=5)
        [told] = given.recorder.of(FailedOver)
        assert told.asserted == 8
        for store in (given.store, standby):
            page = await store.ticks(TickFilter(job_id="a"), app="default", limit=100)
            assert [row.verdict for row in page.rows] == [Verdict.RAN] * 4
        await given.clock.advance(seconds=10)
        page = await standby.ticks(TickFilter(), app="default", limit=100)
        assert {row.verdict for row in page.rows} == {Verdict.RAN}


class Noting(Standby):
    """What is claimed on it, a list of ticks a statement."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.statements: list[list[Tick]] = []

    async def claim(self, bids: Sequence[Bid], **more: Any) -> Sequence[Answer]:
        self.statements.append([bid.tick for bid in bids])
        return await super().claim(bids, **more)


async def test_what_is_told_again_comes_in_order_and_once_a_job_in_a_statement(given: Given) -> None:
    """C-BATCH: after a failover, too."""
    line = Noting(given.store)
    scheduler = given.scheduler(line, ttl=60)
    scheduler.add("a", every(10), lambda: None)
    scheduler.add("b", every(20), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=41)
        line.take_over(MemoryStore(clock=given.clock))
        line.statements.clear()
        await given.clock.advance(seconds=5)
    of_a = [tick for ticks in line.statements for tick in ticks if tick.job_id == "a"]
    assert [[tick.job_id for tick in ticks] for ticks in line.statements] == [
        ["a", "b"],
        ["a", "b"],
        ["a"],
        ["a"],
    ]
    assert of_a == sorted(of_a)


async def test_a_failover_is_noticed_when_the_store_answers_again(given: Given) -> None:
    """F-DRIFT: not only with the next beat: a lost statement that gets through has the timeline looked at
    at once, and once."""
    line = Standby(given.store)
    scheduler = given.scheduler(line, ttl=60)
    scheduler.add("job", every(20), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=19)
        line.cut = True
        await given.clock.advance(seconds=3)
        line.take_over(MemoryStore(clock=given.clock))
        before = line.beats
        await given.clock.advance(seconds=1.5)
        assert len(given.recorder.of(FailedOver)) == 1
        assert line.beats == before + 2  # one, and another under the name it takes: nobody knows it there


async def test_a_release_that_gets_through_again_has_the_timeline_looked_at(given: Given) -> None:
    """F-DRIFT: whichever statement is the first."""
    line, gate = Standby(given.store), Gate()
    scheduler = given.scheduler(line, ttl=60)
    scheduler.add("job", every(20), gate.named("job"))
    async with scheduler:
        await given.clock.advance(seconds=20)
        line.cut = True
        gate.open()
        await given.clock.advance(seconds=2)
        line.take_over(MemoryStore(clock=given.clock))
        before = line.beats
        await given.clock.advance(seconds=1.5)
        assert len(given.recorder.of(FailedOver)) == 1
        assert line.beats == before + 2  # one, and another under the name it takes: nobody knows it there


class Ringing(Standby):
    """A line whose end is heard by those who listen."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.broken = asyncio.Event()
        self.breaks: type[BaseException] = ClaimFailed
        self.listened = 0

    async def asked(self, *, app: str) -> None:
        self.listened += 1
        await self.broken.wait()
        raise self.breaks("the line is broken")


@pytest.mark.parametrize("breaks", [ClaimFailed, RuntimeError, SystemExit, asyncio.CancelledError])
async def test_a_replica_with_nothing_to_claim_notices_that_it_hears_nothing(
    given: Given, breaks: type[BaseException]
) -> None:
    """F-DRIFT, F-BEAT: a line that breaks costs one beat, whatever it breaks with, and one a time to live
    for as long as it stays broken."""
    line = Ringing(given.store)
    line.breaks = breaks
    scheduler = given.scheduler(line, ttl=60)
    scheduler.add("job", every(days=30), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=16)
        line.take_over(MemoryStore(clock=given.clock))
        line.broken.set()
        before = line.beats
        await given.until_quiet()
        assert len(given.recorder.of(FailedOver)) == 1
        await given.clock.advance(minutes=10)
        assert line.beats - before <= 1 + 40 + 10
        assert line.listened <= 1 + 10


async def test_a_store_that_comes_and_goes_is_not_asked_more_often_for_it(given: Given) -> None:
    """F-BEAT: one beat a recovery at most."""
    line = Line(given.store)
    scheduler = given.scheduler(line, ttl=60)
    scheduler.add("job", every(days=30), lambda: None)
    scheduler.add("often", every(10), lambda: None)
    async with scheduler:
        await given.clock.advance(seconds=1)
        before = line.beats
        for _ in range(10):
            line.cut = True
            await given.clock.advance(seconds=10)
            line.cut = False
            await given.clock.advance(seconds=10)
    # At most one every five seconds while it is cut, four a minute while it is not, and one for each return.
    assert line.beats - before <= 10 * (2 + 1 + 1)


class Lossy(Line):
    """Loses what comes after a return, once."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.loses: set[str] = set()

    async def join(self, registrations: Sequence[Registration], **more: Any) -> Sequence[Registered]:
        self._lose("join")
        return await super().join(registrations, **more)

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        self._lose("reassert")
        return await super().reassert(claims, replica=replica)

    def _lose(self, what: str) -> None:
        if what in self.loses:
            self.loses.remove(what)
            raise ClaimFailed(f"lost the {what}")


@pytest.mark.parametrize("lost", ["join", "reassert"])
async def test_a_return_that_fails_half_way_is_made_again(given: Given, lost: str) -> None:
    """F-LOST: what runs is not forgotten under the identity that died."""
    two = Two(given, period=3600)
    two.line = line = Lossy(given.store)
    two.a = given.scheduler(line, replica="a", ttl=TTL, claim_timeout=1)
    two.a.add("job", every(3600), two._held, timeout=3600)
    await started(two)
    line.cut = True
    await given.clock.advance(seconds=TTL * 2)
    line.cut, line.loses = False, {lost}
    await given.clock.advance(seconds=TTL)
    assert line.loses == set()
    [lapsed] = given.recorder.of(ReplicaLapsed)
    assert (len(lapsed.kept), lapsed.lost) == (1, ())
    await stopped(two)


async def test_a_job_added_while_the_store_is_away_is_made_known_later(given: Given) -> None:
    """F-DRIFT: what could not be told is told with the next beat that gets through."""
    line = Line(given.store)
    scheduler = given.scheduler(line, ttl=TTL)
    async with scheduler:
        await given.clock.advance(seconds=1)
        line.cut = True
        scheduler.add("late", every(3600), lambda: None)
        await given.clock.advance(seconds=1)
        line.cut = False
        await given.clock.advance(seconds=TTL)
        assert [row.job_id for row in (await given.store.jobs(app="default", limit=10)).rows] == ["late"]


class Faulty(Line):
    """Fails in ways that no store should."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.faulty = False

    async def beat(self, *, replica: Replica, now: Any, ttl: timedelta) -> Pulse:
        pulse = await super().beat(replica=replica, now=now, ttl=ttl)
        if self.faulty:
            return replace(pulse, lapse_in="soon")  # type: ignore[arg-type]
        return pulse


async def test_no_fault_of_a_store_ends_the_heart(given: Given) -> None:
    """F-BEAT: it is told once, and beaten again."""
    line = Faulty(given.store)
    scheduler = given.scheduler(line, ttl=TTL)
    async with scheduler:
        await given.clock.advance(seconds=1)
        line.faulty = True
        await given.clock.advance(seconds=2 * TTL)
        [told] = given.recorder.of(BeatFailed)
        assert isinstance(told.error.__cause__, TypeError)
        line.faulty = False
        before = line.beats
        await given.clock.advance(seconds=TTL)
        assert line.beats == before + 4
    assert len(given.recorder.of(BeatFailed)) == 1


async def test_no_fault_in_what_a_beat_means_here_ends_the_heart(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-BEAT: on the jobs' side, too."""

    def feel(self: object, pulse: Pulse) -> None:
        raise ZeroDivisionError("of ours")

    line = Line(given.store)
    scheduler = given.scheduler(line, ttl=TTL)
    async with scheduler:
        await given.clock.advance(seconds=1)
        with monkeypatch.context() as broken:
            broken.setattr("onebeat.engine.members.Members.feel", feel)
            before = line.beats
            await given.clock.advance(seconds=TTL)
        assert line.beats == before + 4
        [told] = given.recorder.of(BeatFailed)
        assert isinstance(told.error.__cause__, ZeroDivisionError)
        await given.clock.advance(seconds=TTL)


class Gone(Line):
    """A database that takes what is said and never answers."""

    async def leave(self, *, replica: Replica) -> None:
        await asyncio.Event().wait()


async def test_a_database_that_is_gone_does_not_hold_the_stop(given: Given) -> None:
    """X-STOP: two seconds at most for saying good-bye, whatever the claim timeout."""
    scheduler = given.scheduler(Gone(given.store), ttl=TTL, claim_timeout=60)
    await scheduler.__aenter__()
    await given.clock.advance(seconds=1)
    stopping = asyncio.ensure_future(scheduler.__aexit__(None, None, None))
    await given.clock.advance(seconds=2)
    assert stopping.done()


class Watched(Standby):
    """Says when something has been asked of it a number of times; on the machine's clock."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.beaten = threading.Semaphore(0)
        self.returned = threading.Event()

    async def beat(self, *, replica: Replica, now: Any, ttl: timedelta) -> Pulse:
        pulse = await super().beat(replica=replica, now=now, ttl=ttl)
        self.beaten.release()
        return pulse

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        kept = await super().reassert(claims, replica=replica)
        if claims:
            self.returned.set()
        return kept


def while_a_job_blocks(line: Watched, blocking: Any) -> bool:
    """What *blocking* returns, called by a tick's body on the jobs' loop, which waits for it."""
    told: list[bool] = []
    over = threading.Event()

    async def body() -> None:
        if not over.is_set():
            told.append(blocking())
            over.set()

    scheduler = Scheduler(line, ttl=0.4)
    scheduler.add("blocks", every(1), body)
    background = scheduler.start_background()
    try:
        assert over.wait(30)
    finally:
        background.stop()
    return told[0]


def test_beats_do_not_wait_for_a_job_that_blocks_the_loop() -> None:
    """F-BEAT: a job that blocks the loop keeps its lease."""
    line = Watched()

    def blocking() -> bool:
        return all(line.beaten.acquire(timeout=10) for _ in range(40))

    assert while_a_job_blocks(line, blocking)


def test_a_failover_is_made_up_for_while_a_job_blocks_the_loop() -> None:
    """F-DRIFT, F-BEAT: what it runs is asserted at once, not when it is over."""
    line = Watched()

    def blocking() -> bool:
        line.take_over(MemoryStore())
        return line.returned.wait(10)

    assert while_a_job_blocks(line, blocking)
