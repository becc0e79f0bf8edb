"""The way to the end: admit nothing more, cancel, wait so long and no longer, say what outlived it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from onebeat.engine.desk import Desk
from onebeat.engine.here import Here
from onebeat.engine.limits import Limits
from onebeat.engine.releases import Releases
from onebeat.engine.slots import Slots
from onebeat.engine.tasks import until_either
from onebeat.engine.verdicts import Verdicts
from onebeat.events import SchedulerStopped, SchedulerStopping


class Shutdown:
    """Waits up to the shutdown timeout for bodies and their releases (X-STOP).

    `kill` ends at once what can be killed: when nobody waits any longer.
    """

    def __init__(
        self,
        here: Here,
        slots: Slots,
        desk: Desk | None,
        releases: Releases | None,
        verdicts: Verdicts | None,
        limits: Limits,
        kill: Callable[[], object],
    ) -> None:
        self._here = here
        self._slots = slots
        self._desk = desk
        self._releases = releases
        self._verdicts = verdicts
        self._limits = limits
        self._kill = kill
        self._over = asyncio.Event()
        self._hurried = False

    def hurry(self) -> None:
        """Stop waiting: a second signal."""
        self._hurried = True
        self._kill()
        self._over.set()

    async def run(self, withdraw: Callable[[], object]) -> None:
        """Return when all has ended, or is not waited for any longer. *withdraw* what is not yet admitted."""
        self._here.observe(SchedulerStopping(self._here.replica, self._slots.close()))
        withdraw()
        timeout = self._here.settings.shutdown_timeout.total_seconds()
        timer = self._here.clock.call_later(timeout, self._over.set)
        await self._unless_over(self._slots.ended())
        outlived = self._slots.busy_ids
        claim_timeout = self._here.settings.claim_timeout.total_seconds()
        last_words = self._here.clock.call_later(claim_timeout, self._over.set)
        await self._unless_over(self._settled())
        timer.cancel()
        last_words.cancel()
        if self._desk is not None and self._releases is not None:
            await self._abandon(self._desk, self._releases, claim_timeout)
        if self._verdicts is not None:
            self._verdicts.abandon()
        self._limits.abandon()
        self._here.observe(SchedulerStopped(self._here.replica, outlived))

    async def _abandon(self, desk: Desk, releases: Releases, claim_timeout: float) -> None:
        """What is still out has had its time. What it may have claimed is released in one more try, or
        its lease would keep the job from the other replicas for as long as it lasts."""

        async def last_try() -> None:
            await desk.closed()
            await releases.last_try()

        desk.abandon()
        if not self._hurried:
            self._over.clear()
        timer = self._here.clock.call_later(claim_timeout, self._over.set)
        await self._unless_over(last_try())
        timer.cancel()
        releases.abandon()

    async def _settled(self) -> None:
        """No claim is left undecided, none unreleased."""
        if self._desk is not None and self._releases is not None:
            await self._desk.closed()
            await self._releases.closed()
        if self._verdicts is not None:
            await self._verdicts.closed()
        await self._limits.closed()

    async def _unless_over(self, waiting: Coroutine[Any, Any, None]) -> None:
        over = asyncio.ensure_future(self._over.wait())
        await until_either(waiting, over)
        over.cancel()
