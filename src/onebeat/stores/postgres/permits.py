"""Permits of limits that the whole fleet shares, on PostgreSQL: a row is a permit taken."""

from __future__ import annotations

import json
from datetime import timedelta

from onebeat.errors import ClaimFailed, ClaimFailure
from onebeat.model import LONGEST, Replica
from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.dead import is_dead
from onebeat.stores.postgres.durable import DURABLE

_TRIES = 10

_HOLDS = f"permit.lease_until > clock_timestamp() AND NOT {is_dead('permit.app', 'permit.holder')}"
# All rivals go for the lowest place that is free: the row's lock lets one have it, the others look again.
# What was taken while the limit was larger counts as well. One who was declared dead gets none: what he took
# would be free for the others.
_TAKE = (
    DURABLE
    + """
, held AS MATERIALIZED (
    SELECT permit.place, permit.token
      FROM {permits} AS permit JOIN asked ON permit.app = asked.app AND permit.prefix = ask->>'prefix'
     WHERE {holds}
), open AS MATERIALIZED (
    SELECT app, ask->>'prefix' AS prefix, min(place) AS place, ask->>'token' AS token,
           ask->>'replica' AS holder, (ask->>'lease')::float8 * interval '1 second' AS lease
      FROM asked CROSS JOIN generate_series(1, (ask->>'most')::int) AS place
     WHERE (SELECT count(*) FROM held) < (ask->>'most')::int
       AND place NOT IN (SELECT held.place FROM held)
       AND ask->>'token' NOT IN (SELECT held.token FROM held)
       AND NOT {asker_is_dead}
     GROUP BY app, ask
), taken AS (
    INSERT INTO {permits} AS permit (app, prefix, place, token, holder, lease_until)
    SELECT app, prefix, place, token, holder, clock_timestamp() + lease FROM open
    ON CONFLICT (app, prefix, place) DO UPDATE
       SET token = excluded.token, holder = excluded.holder, lease_until = excluded.lease_until
     WHERE NOT ({holds})
    RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN 'taken'
            WHEN EXISTS (SELECT FROM held WHERE held.token = ask->>'token') THEN 'taken'
            WHEN EXISTS (SELECT FROM open) THEN 'again'
            ELSE 'none left' END
  FROM asked
""".replace("{holds}", _HOLDS).replace("{asker_is_dead}", is_dead("asked.app", "ask->>'replica'"))
)
_RETURN = (
    DURABLE
    + """
DELETE FROM {permits} AS permit
 USING asked
 WHERE permit.app = asked.app AND permit.prefix = ask->>'prefix' AND permit.token = ask->>'token'
"""
)


class FleetPermits(Asking):
    """See Permits."""

    async def take_permit(
        self, prefix: str, *, most: int, token: str, lease: timedelta, replica: Replica
    ) -> bool:
        ask = {
            "app": replica.app,
            "replica": replica.id,
            "prefix": prefix,
            "token": token,
            "most": most,
            "lease": min(lease, LONGEST).total_seconds(),
        }
        for _ in range(_TRIES):
            told = await self._insist(_TAKE, json.dumps(ask), "[]")
            if told != "again":
                return told == "taken"
        raise ClaimFailed("others take permits of this prefix all the time", ClaimFailure.CONFLICT)

    async def return_permit(self, prefix: str, *, token: str, replica: Replica) -> None:
        ask = {"app": replica.app, "prefix": prefix, "token": token}
        await self._insist(_RETURN, json.dumps(ask), "[]")
