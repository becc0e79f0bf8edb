"""Limits that all replicas share."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from onebeat import CancelToken, Limit, Scheduler, every
from onebeat.engine.here import Here
from onebeat.errors import ClaimFailed, ClaimFailure, InvalidSetting
from onebeat.events import PermitsFailed, StoreRecovered
from onebeat.model import Replica
from onebeat.stores.memory import MemoryStore
from tests.engine.given import ClaimsAlone, Given, Through

ONE = (Limit("mail.", 1, fleet=True),)
TWO = (Limit("mail.", 2, fleet=True),)
RIVAL = Replica("default", "rival", "rival")


class Crowd:
    """How many bodies run at once, at most."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._now = 0
        self.most = 0
        self.ended = 0

    async def body(self) -> None:
        self._now += 1
        self.most = max(self.most, self._now)
        await self._given.clock.sleep(3)
        self._now -= 1
        self.ended += 1


class Asked(Through):
    """Notes who asked for a permit and when, and fails or waits when told to."""

    def __init__(self, given: Given) -> None:
        super().__init__(given.store)
        self._given = given
        self.takes: list[str] = []
        self.out = self.most_out = 0
        self.failure: ClaimFailure | None = None
        self.keep_back = 0.0  # the seconds until an answer comes, though the statement lands at once
        self.lost_answer = False  # it lands, and nobody hears of it

    async def take_permit(self, prefix: str, **asked: Any) -> bool:
        self.takes.append(asked["token"])
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        try:
            self._fail_if_told()
            taken: bool = await self.inner.take_permit(prefix, **asked)  # type: ignore[attr-defined]
            await self._given.clock.sleep(self.keep_back)
            if self.lost_answer:
                raise ClaimFailed("connection lost", ClaimFailure.UNAVAILABLE)
            return taken
        finally:
            self.out -= 1

    async def return_permit(self, prefix: str, **asked: Any) -> None:
        self._fail_if_told()
        await self.inner.return_permit(prefix, **asked)  # type: ignore[attr-defined]

    def _fail_if_told(self) -> None:
        if self.failure is not None:
            raise ClaimFailed("no connection", self.failure)


async def is_free(given: Given) -> bool:
    """Whether somebody else gets the only permit; who keeps it then."""
    return await given.store.take_permit("mail.", most=1, token="rival", lease=timedelta(1), replica=RIVAL)


@pytest.fixture
def crowd(given: Given) -> Crowd:
    return Crowd(given)


@pytest.fixture
def store(given: Given) -> Asked:
    return Asked(given)


@pytest.fixture
def scheduler(given: Given, store: Asked) -> Scheduler:
    """Over *store*, where one may run at a time."""
    return given.scheduler(store, limits=ONE)


async def test_never_more_than_so_many_run_at_once_in_the_whole_fleet(given: Given, crowd: Crowd) -> None:
    """J-LIMIT: across replicas, ticks and work on demand alike; the others wait, and run in their turn."""
    replicas = [given.scheduler(given.store, limits=TWO) for _ in range(3)]
    for scheduler in replicas:
        for number in range(6):
            scheduler.add(f"mail.{number}", every(60), crowd.body)
    async with replicas[0], replicas[1], replicas[2]:
        await given.clock.advance(seconds=61)
        for scheduler in replicas:
            assert scheduler.run_once("mail.by hand", crowd.body)
        await given.clock.advance(seconds=55)
    assert crowd.most == 2
    assert crowd.ended == 6 + 3


async def test_other_ids_do_not_wait(given: Given, crowd: Crowd) -> None:
    scheduler = given.scheduler(given.store, limits=TWO)
    for number in range(5):
        scheduler.add(f"other.{number}", every(60), crowd.body)
    async with scheduler:
        await given.clock.advance(seconds=64)
    assert crowd.most == 5


async def test_a_run_that_waits_for_the_fleet_gives_up_when_it_is_cancelled(
    given: Given, crowd: Crowd
) -> None:
    """J-LIMIT: and whatever it may have taken it gives back."""
    scheduler = given.scheduler(given.store, limits=ONE)
    assert await is_free(given)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=30)
        assert (scheduler.active, crowd.most) == (1, 0)
        scheduler.supersede("mail.a", crowd.body)
        await given.clock.advance(seconds=1)
        await given.store.return_permit("mail.", token="rival", replica=RIVAL)
        await given.clock.advance(seconds=10)
    assert crowd.ended == 1
    assert await is_free(given)


async def test_a_store_that_is_down_lets_nothing_run_and_is_asked_again(
    given: Given, crowd: Crowd, store: Asked
) -> None:
    """J-LIMIT, D-DOWN: never without a permit; said once, and once more when it is over."""
    store.failure = ClaimFailure.UNAVAILABLE
    scheduler = given.scheduler(store, limits=TWO)
    async with scheduler:
        for name in "abc":
            scheduler.run_once(f"mail.{name}", crowd.body)
        await given.clock.advance(seconds=20)
        assert crowd.ended == 0
        (told,) = given.recorder.of(PermitsFailed)
        assert (told.prefix, told.waiting, str(told.error)) == ("mail.", 3, "no connection")
        assert not given.recorder.of(StoreRecovered)
        store.failure = None
        await given.clock.advance(seconds=20)
        assert crowd.ended == 3
    (over,) = given.recorder.of(StoreRecovered)
    assert over.failures == len(store.takes) - 3
    assert over.after >= 19
    assert len(given.recorder.of(PermitsFailed)) == 1


async def test_each_outage_is_told_and_a_permit_is_given_back_once_it_is_over(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: also what cannot be given back is told of, though nothing waits."""
    async with scheduler:
        for outage in (1, 2):
            scheduler.run_once("mail.a", crowd.body)
            await given.clock.advance(seconds=1)
            store.failure = ClaimFailure.UNAVAILABLE
            await given.clock.advance(seconds=10)
            assert [event.waiting for event in given.recorder.of(PermitsFailed)] == [0] * outage
            store.failure = None
            await given.clock.advance(seconds=10)
            assert len(given.recorder.of(StoreRecovered)) == outage
        assert await is_free(given)


async def test_a_conflict_is_the_store_at_work_and_not_told(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    store.failure = ClaimFailure.CONFLICT
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=5)
        store.failure = None
        await given.clock.advance(seconds=10)
    assert crowd.ended == 1
    assert not given.recorder.of(PermitsFailed)


async def test_one_asks_for_all_who_wait_here(given: Given, crowd: Crowd, store: Asked) -> None:
    """J-LIMIT: in the order they came, one statement at a time, however many wait."""
    scheduler = given.scheduler(store, limits=TWO)
    began: list[int] = []
    assert await given.store.take_permit("mail.", most=1, token="rival", lease=timedelta(1), replica=RIVAL)
    assert await given.store.take_permit("mail.", most=2, token="2nd", lease=timedelta(1), replica=RIVAL)

    def numbered(number: int) -> Any:
        async def body() -> None:
            began.append(number)
            await crowd.body()

        return body

    async with scheduler:
        for number in range(8):
            scheduler.run_once(f"mail.{number}", numbered(number))
        await given.clock.advance(seconds=20)
        assert (store.most_out, len(set(store.takes))) == (1, 1)
        assert len(store.takes) <= 22
        await given.store.return_permit("mail.", token="rival", replica=RIVAL)
        await given.store.return_permit("mail.", token="2nd", replica=RIVAL)
        await given.clock.advance(seconds=25)
    assert (began, crowd.most, store.most_out) == (list(range(8)), 2, 1)


async def test_who_waits_is_asked_for_every_other_second_at_least(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: so he meets what a busy replica leaves to the others for so long."""
    assert await is_free(given)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=100)
        assert 58 <= len(store.takes) <= 80


async def test_while_all_are_held_here_nobody_is_asked(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: whoever gives one back wakes the next."""
    async with scheduler:
        await given.clock.advance(minutes=1)
        scheduler.run_once("mail.a", crowd.body)
        scheduler.run_once("mail.b", crowd.body)
        await given.clock.advance(seconds=2)
        assert len(store.takes) == 1
        await given.clock.advance(seconds=1)
        assert len(store.takes) == 2
        await given.clock.advance(seconds=3)
    assert crowd.ended == 2


async def test_what_was_taken_too_late_is_given_back(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: cancelled while its statement is out, a run gives back what the answer brings."""
    store.keep_back = 2
    async with scheduler:
        cancel = CancelToken()
        scheduler.run_once("mail.a", crowd.body, cancel=cancel)
        await given.clock.advance(seconds=1)
        cancel.cancel()
        await given.until_quiet()
        assert (scheduler.active, await is_free(given)) == (0, False)
        await given.clock.advance(seconds=1.5)
        assert await is_free(given)
    assert crowd.ended == 0


async def test_the_next_in_line_has_its_turn_after_one_that_left(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: the line moves on."""
    store.keep_back = 2
    async with scheduler:
        cancel = CancelToken()
        for name in "ab":
            scheduler.run_once(f"mail.{name}", crowd.body, cancel=cancel)
        scheduler.run_once("mail.c", crowd.body)
        await given.clock.advance(seconds=1)
        cancel.cancel()
        await given.clock.advance(seconds=10)
        assert (crowd.ended, scheduler.active) == (1, 0)
        assert await is_free(given)


async def test_what_may_have_been_taken_is_given_back(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: the answer was lost; whoever waits no longer gives back what may have landed."""
    store.lost_answer = True
    async with scheduler:
        cancel = CancelToken()
        scheduler.run_once("mail.a", crowd.body, cancel=cancel)
        await given.clock.advance(seconds=3)
        assert not await is_free(given)
        cancel.cancel()
        await given.until_quiet()
        assert await is_free(given)


async def test_what_may_land_late_is_given_back(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """J-LIMIT: a statement that failed may land after the next one has said that there is nothing."""
    cancel = CancelToken()
    store.failure = ClaimFailure.TIMEOUT
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body, cancel=cancel)
        await given.until_quiet()
        assert await is_free(given)
        store.failure = None
        await given.clock.advance(seconds=3)
        await given.store.return_permit("mail.", token="rival", replica=RIVAL)
        late = {"most": 1, "token": store.takes[0], "lease": timedelta(1), "replica": RIVAL}
        assert await given.store.take_permit("mail.", **late)  # type: ignore[arg-type]
        cancel.cancel()
        await given.until_quiet()
        assert await is_free(given)


async def test_a_body_that_outlives_the_scheduler_gives_nothing_back(
    given: Given, store: Asked, scheduler: Scheduler
) -> None:
    """X-STOP: nothing is asked of the store any more; what it holds ends with its replica, or its lease."""
    gate = asyncio.Event()
    before = asyncio.all_tasks()

    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await gate.wait()
        await gate.wait()

    await scheduler.__aenter__()
    scheduler.run_once("mail.a", stubborn)
    await given.clock.advance(seconds=1)
    store.failure = ClaimFailure.UNAVAILABLE
    stopping = asyncio.ensure_future(scheduler.__aexit__(None, None, None))
    await given.clock.advance(seconds=120)
    assert stopping.done()
    gate.set()
    await given.until_quiet()
    assert asyncio.all_tasks() <= before | {stopping}


async def test_a_stop_waits_for_the_statement_that_is_out_and_no_longer(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler
) -> None:
    """X-STOP: nor for the pause that would come after it."""
    store.keep_back = 1
    cancel = CancelToken()
    assert await is_free(given)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body, cancel=cancel)
        await given.clock.advance(seconds=0.5)
        cancel.cancel()
        await given.clock.advance(seconds=0.5)
        before = given.clock.now()
    assert given.clock.now() == before


async def test_a_forked_copy_asks_for_nothing(
    given: Given, crowd: Crowd, store: Asked, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-ID: the run it would speak of waits over there."""
    assert await is_free(given)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=10)
        asked = len(store.takes)
        with monkeypatch.context() as copied:
            copied.setattr(Here, "is_copy", True)
            await given.clock.advance(seconds=10)
        assert len(store.takes) == asked


async def test_a_stop_does_not_wait_for_a_pause_between_two_askings(given: Given, crowd: Crowd) -> None:
    """X-STOP: nobody is left to ask for."""
    scheduler = given.scheduler(given.store, limits=ONE)
    assert await is_free(given)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=10)
        before = given.clock.now()
    assert given.clock.now() == before


async def test_nobody_starves_beside_a_replica_that_is_always_busy(given: Given) -> None:
    """J-LIMIT: it keeps permits to itself for a while, then lets the others in."""
    crowd, waited = Crowd(given), Crowd(given)
    busy, other = (given.scheduler(given.store, limits=ONE) for _ in range(2))
    async with busy, other:
        for number in range(60):
            busy.run_once(f"mail.{number}", crowd.body)
        await given.clock.advance(seconds=100)
        assert crowd.ended >= 100 / 3 * 0.85
        for number in range(3):
            other.run_once(f"mail.other {number}", waited.body)
        await given.clock.advance(seconds=60)
        assert waited.ended >= 1
        await given.clock.advance(seconds=30)
        assert waited.ended == 3


async def test_nobody_starves_where_one_waits_at_a_time(given: Given) -> None:
    """J-LIMIT: a steady stream hands on just as a long line does."""
    crowd, waited = Crowd(given), Crowd(given)
    busy, other = (given.scheduler(given.store, limits=ONE) for _ in range(2))
    async with busy, other:
        for number in range(20):
            busy.run_once(f"mail.{number}", crowd.body)
            if number == 3:
                other.run_once("mail.other", waited.body)
            await given.clock.advance(seconds=3 if number else 1)
        assert waited.ended == 1


def test_a_limit_of_the_fleet_needs_a_store_that_has_permits() -> None:
    """J-LIMIT: refused at construction."""
    for store in (None, ClaimsAlone(MemoryStore())):
        with pytest.raises(InvalidSetting, match="fleet=True"):
            Scheduler(store, limits=TWO)
    with pytest.raises(InvalidSetting, match="fleet"):
        Limit("mail.", 2, fleet="yes")  # type: ignore[arg-type]


async def test_permits_are_given_back_before_the_scheduler_has_stopped(given: Given) -> None:
    """X-STOP: the others need not wait for the lease."""
    scheduler = given.scheduler(given.store, limits=ONE)
    async with scheduler:
        scheduler.run_once("mail.a", lambda: None)
        await asyncio.sleep(0)
    assert await is_free(given)
