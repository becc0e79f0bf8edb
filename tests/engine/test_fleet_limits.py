"""Limits that all replicas share."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from onebeat import Limit, Scheduler, every
from onebeat.errors import ClaimFailed, InvalidSetting
from onebeat.model import Replica
from onebeat.stores.memory import MemoryStore
from tests.engine.given import ClaimsAlone, Given, Through

TWO = (Limit("mail.", 2, fleet=True),)


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


async def test_never_more_than_so_many_run_at_once_in_the_whole_fleet(given: Given) -> None:
    """J-LIMIT: across replicas, ticks and work on demand alike; the others wait, and run in their turn."""
    crowd = Crowd(given)
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


async def test_other_ids_do_not_wait(given: Given) -> None:
    crowd = Crowd(given)
    scheduler = given.scheduler(given.store, limits=TWO)
    for number in range(5):
        scheduler.add(f"other.{number}", every(60), crowd.body)
    async with scheduler:
        await given.clock.advance(seconds=64)
    assert crowd.most == 5


async def test_a_run_that_waits_for_the_fleet_gives_up_when_it_is_cancelled(given: Given) -> None:
    """J-LIMIT: and whatever it may have taken it gives back."""
    crowd = Crowd(given)
    scheduler = given.scheduler(given.store, limits=(Limit("mail.", 1, fleet=True),))
    rival = Replica("default", "rival", "rival")
    await given.store.take_permit("mail.", most=1, token="rival", lease=timedelta(hours=1), replica=rival)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=30)
        assert (scheduler.active, crowd.most) == (1, 0)
        scheduler.supersede("mail.a", crowd.body)
        await given.clock.advance(seconds=1)
        await given.store.return_permit("mail.", token="rival", replica=rival)
        await given.clock.advance(seconds=10)
    assert crowd.ended == 1
    assert await given.store.take_permit(
        "mail.", most=1, token="next", lease=timedelta(hours=1), replica=rival
    )


class Down(Through):
    """Its permits cannot be asked for at first."""

    failures = 3

    async def take_permit(self, prefix: str, **asked: Any) -> bool:
        if self.failures:
            self.failures -= 1
            raise ClaimFailed("no connection")
        return await self.inner.take_permit(prefix, **asked)  # type: ignore[attr-defined, no-any-return]


async def test_a_store_that_is_down_lets_nothing_run_and_is_asked_again(given: Given) -> None:
    """J-LIMIT, D-DOWN: never without a permit."""
    crowd = Crowd(given)
    store = Down(given.store)
    scheduler = given.scheduler(store, limits=TWO)
    async with scheduler:
        scheduler.run_once("mail.a", crowd.body)
        await given.clock.advance(seconds=20)
    assert (store.failures, crowd.ended) == (0, 1)


def test_a_limit_of_the_fleet_needs_a_store_that_has_permits() -> None:
    """J-LIMIT: refused at construction."""
    for store in (None, ClaimsAlone(MemoryStore())):
        with pytest.raises(InvalidSetting, match="fleet=True"):
            Scheduler(store, limits=TWO)
    with pytest.raises(InvalidSetting, match="fleet"):
        Limit("mail.", 2, fleet="yes")  # type: ignore[arg-type]


async def test_permits_are_given_back_before_the_scheduler_has_stopped(given: Given) -> None:
    """X-STOP: the others need not wait for the lease."""
    scheduler = given.scheduler(given.store, limits=(Limit("mail.", 1, fleet=True),))
    async with scheduler:
        scheduler.run_once("mail.a", lambda: None)
        await asyncio.sleep(0)
    rival = Replica("default", "rival", "rival")
    assert await given.store.take_permit("mail.", most=1, token="r", lease=timedelta(1), replica=rival)
