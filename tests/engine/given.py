"""What most tests of the engine start from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from onebeat import Scheduler
from onebeat.claims import ClaimStore
from onebeat.model import Answer, Bid, Release, Replica
from onebeat.stores.memory import MemoryStore
from onebeat.testing.clock import FakeClock
from onebeat.testing.recorder import Recorder


@dataclass
class Given:
    """A clock that stands still, a store on it, and a recorder of all events."""

    clock: FakeClock = field(default_factory=FakeClock)
    recorder: Recorder = field(default_factory=Recorder)

    def __post_init__(self) -> None:
        self.store = MemoryStore(clock=self.clock)

    def scheduler(self, store: object = None, **settings: Any) -> Scheduler:
        """A scheduler on this clock; without a store unless one is given."""
        return Scheduler(store, clock=self.clock, observers=[self.recorder], **settings)

    async def until_quiet(self) -> None:
        await self.clock.settle()


class Gate:
    """A body that waits until it is opened, and notes what happened to it."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.cancelled: list[str] = []
        self._open = asyncio.Event()

    def open(self) -> None:
        self._open.set()

    def named(self, name: str) -> Any:
        async def body() -> None:
            self.began.append(name)
            try:
                await self._open.wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise
            self.ended.append(name)

        return body


class ClaimsAlone:
    """A store in front of another that decides claims and nothing else, as one written elsewhere may."""

    label = "through"
    loop_bound = None
    tolerance = timedelta(seconds=5)

    def __init__(self, inner: ClaimStore) -> None:
        self.inner = inner
        self.claims: list[list[Bid]] = []
        self.releases: list[list[Release]] = []

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        self.claims.append(list(bids))
        return await self.inner.claim(bids, replica=replica, timeout=timeout)

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        self.releases.append(list(releases))
        await self.inner.release(releases, replica=replica)

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await self.inner.prune(app=app, keep=keep, most=most, limit=limit)

    async def repair(self, *, app: str, job_id: str) -> bool:
        return await self.inner.repair(app=app, job_id=job_id)

    async def close(self) -> None:
        await self.inner.close()


class Through(ClaimsAlone):
    """A store in front of another, with all its sides: tests override what they disturb."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
