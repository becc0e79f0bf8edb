"""Being told at once that the fleet is wanted, where the server is reached directly."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.channel import channel_of
from onebeat.stores.postgres.driver import Ear
from onebeat.stores.postgres.failures import failed

_Place = tuple[int, asyncio.AbstractEventLoop, str]


class Hearing(Asking):
    """`asked` of FleetStore. An ear stays open between two calls, so that nothing is missed meanwhile."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._ears: dict[_Place, Ear] = {}
        self._deafened: set[_Place] = set()
        self._own: set[str] = set()
        """The replicas that have joined through this store: of these it need not be told."""

    async def asked(self, *, app: str) -> None:
        here = (os.getpid(), asyncio.get_running_loop(), app)
        try:
            if here not in self._ears:
                ear = await self._driver.listen(channel_of(app))
                if ear is None:
                    await here[1].create_future()
                    return
                self._ears[here] = ear
                if here in self._deafened:
                    # At once: something may have been asked since the last ear was lost.
                    self._deafened.discard(here)
                    return
            while await self._ears[here].heard() in self._own:
                continue
        except BaseException as error:
            await self._deafen(here)
            if isinstance(error, self._driver.errors):
                self._deafened.add(here)
                raise failed(error, self.label) from error
            raise

    async def close(self) -> None:
        for here in [here for here in self._ears if here[:2] == (os.getpid(), asyncio.get_running_loop())]:
            await self._deafen(here)
        await super().close()

    async def _deafen(self, here: _Place) -> None:
        ear = self._ears.pop(here, None)
        if ear is not None:
            await ear.close()
