"""The claims' side of the store on PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

from onebeat.model import LONGEST, Answer, Bid, Release, Replica
from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.upkeep import DELETE_BELOW_FLOORS, RAISE_FLOORS, REPAIR
from onebeat.stores.postgres.wire import answers, claim_request, release_request, rounds

# Functions, made by a migration: the server keeps their plans, whatever stands between.
_CLAIM = "SELECT {claim}($1::text, $2::text)"
_RELEASE = "SELECT {release}($1::text, $2::text)"


class Claiming(Asking):
    """See ClaimStore."""

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        if not bids:
            return []
        request = claim_request(bids, replica, timeout, self.tolerance)
        # A timeout already spent still gets its answer: the bids may have landed before.
        wait = max(timeout.total_seconds(), 1.0)
        return answers(bids, await self._ask(_CLAIM, *request, wait=wait) or "")

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        for round_ in rounds(releases):
            await self._ask(_RELEASE, *release_request(round_, replica))

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        request = json.dumps(
            {"app": app, "keep": min(keep, LONGEST).total_seconds(), "most": most, "limit": limit}
        )
        await self._ask(RAISE_FLOORS, request)
        return int(await self._ask(DELETE_BELOW_FLOORS, request) or 0)

    async def repair(self, *, app: str, job_id: str) -> bool:
        request = json.dumps({"app": app, "job_id": job_id})
        return await self._ask(REPAIR, request) != "0"
