"""The permits of limits: who has one may run."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from onebeat.engine.admission import Admission
from onebeat.engine.here import Here
from onebeat.permits import Permits

if TYPE_CHECKING:
    from onebeat.engine.fleet_limits import FleetLimit


class Limits:
    """The permits of a running scheduler; first come, first served."""

    def __init__(self, here: Here, store: Permits | None) -> None:
        limits = here.settings.limits
        self._local = {limit.prefix: asyncio.Semaphore(limit.n) for limit in limits if not limit.fleet}
        self._fleet = _shared(here, store) if store is not None else {}

    def permit(self, admission: Admission) -> AbstractAsyncContextManager[None]:
        """Hold one while the body runs. Waiting for it may be cancelled."""
        for prefix, permits in self._local.items():
            if admission.job_id.startswith(prefix):
                return permits
        for prefix, shared in self._fleet.items():
            if admission.job_id.startswith(prefix):
                return shared.permit(admission.run.run_id, admission.policy.run_lease)
        return nullcontext()

    async def closed(self) -> None:
        """Return when every shared permit has been given back."""
        for shared in self._fleet.values():
            await shared.closed()

    def abandon(self) -> None:
        """Give no shared permit back any more."""
        for shared in self._fleet.values():
            shared.abandon()


def _shared(here: Here, store: Permits) -> dict[str, FleetLimit]:
    shared = [limit for limit in here.settings.limits if limit.fleet]
    if not shared:
        return {}
    from onebeat.engine.fleet_limits import FleetLimit  # not needed without one

    return {limit.prefix: FleetLimit(limit.prefix, limit.n, store, here) for limit in shared}
