"""Hearing that somebody has asked the fleet for something."""

from __future__ import annotations

import asyncio
from functools import partial

from onebeat.engine.bounded import asked
from onebeat.engine.here import Here
from onebeat.fleet import FleetStore


class Listener:
    """Listens on the heart's loop, from one call of `listen` to the next."""

    def __init__(self, store: FleetStore, here: Here) -> None:
        self._store = store
        self._here = here
        self._ttl = here.settings.ttl.total_seconds()
        self._heard: asyncio.Task[None] | None = None

    def listen(self) -> asyncio.Task[None]:
        """Done when somebody has asked, and when nothing can be heard any more.

        For a line that breaks may be all that is noticed of a server's end. It is taken up again a time to
        live later, and no sooner: until then what is asked is seen with the next beat.
        """
        if self._heard is None:
            self._heard = self._begin(0)
        elif self._heard.done():
            has_failed = self._heard.cancelled() or self._heard.exception() is not None
            self._heard = self._begin(self._ttl if has_failed else 0)
        return self._heard

    async def rest(self) -> None:
        """Listen no more."""
        if self._heard is not None:
            self._heard.cancel()
            await asyncio.wait({self._heard})

    def _begin(self, pause: float) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._until_asked(pause))

    async def _until_asked(self, pause: float) -> None:
        if pause:
            await self._here.clock.sleep(pause)
        await asked(partial(self._store.asked, app=self._here.replica.app))
