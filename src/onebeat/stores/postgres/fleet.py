"""The heartbeat's side of the store on PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from onebeat.fleet import Buried, Facts, Held, Pulse, Registered, Registration
from onebeat.model import Bid, Record, Replica
from onebeat.stores.postgres.claiming import Claiming
from onebeat.stores.postgres.fleet_beat import BEAT
from onebeat.stores.postgres.fleet_bury import BURIAL, OBITUARY
from onebeat.stores.postgres.fleet_claims import REASSERT, RECORD
from onebeat.stores.postgres.fleet_join import JOIN, LEAVE
from onebeat.stores.postgres.fleet_wire import (
    asker,
    beat_request,
    buried,
    join_request,
    pulse,
    reassert_request,
    record_request,
    registered,
    seconds,
)
from onebeat.stores.postgres.hearing import Hearing

_TIMEOUT = timedelta(seconds=10)


class Fleet(Claiming, Hearing):
    """See FleetStore."""

    async def join(
        self, registrations: Sequence[Registration], *, replica: Replica, facts: Facts, now: datetime
    ) -> Sequence[Registered]:
        self._own.add(replica.id)
        request = join_request(registrations, replica, facts, now)
        return registered(registrations, await self._insist(JOIN, *request) or "null")

    async def beat(self, *, replica: Replica, now: datetime, ttl: timedelta) -> Pulse:
        return pulse(replica, await self._insist(BEAT, beat_request(replica, now, ttl)) or "")

    async def bury(self, *, replica: Replica, ttl: timedelta) -> Sequence[Buried]:
        """Two statements: by the second one's time everything the dead ever won can be seen."""
        request = asker(replica, ttl=seconds(ttl))
        await self._insist(OBITUARY, request)
        return buried(await self._insist(BURIAL, request, "[]") or "[]")

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        """What a server that took over has never heard of is claimed once more, with the same tokens."""
        if not claims:
            return []
        told = sorted(json.loads(await self._insist(REASSERT, *reassert_request(claims, replica)) or "[]"))
        kept = {number for number, is_kept, _ in told if is_kept}
        unheard = [claims[number] for number, is_kept, is_recorded in told if not is_kept | is_recorded]
        bids = [Bid(claim.tick, claim.token, claim.lease) for claim in unheard]
        won = {
            answer.token for answer in await self.claim(bids, replica=replica, timeout=_TIMEOUT) if answer.won
        }
        return [number in kept or claim.token in won for number, claim in enumerate(claims)]

    async def record(self, records: Sequence[Record], *, replica: Replica) -> None:
        if records:
            await self._insist(RECORD, *record_request(records, replica))

    async def leave(self, *, replica: Replica) -> None:
        await self._insist(LEAVE, asker(replica))
