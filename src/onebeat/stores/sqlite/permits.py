"""Permits of limits that the whole fleet shares: a row is a permit taken."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

from onebeat.model import LONGEST, Replica
from onebeat.stores.ruling import MICROSECOND
from onebeat.stores.sqlite.embedded import Embedded

_FREE = """
DELETE FROM onebeat_permits
 WHERE app = :app AND prefix = :prefix
   AND (lease_until <= :now
        OR holder IN (SELECT replica_id FROM onebeat_replicas WHERE app = :app AND dead_at IS NOT NULL))
"""
_TAKEN = "SELECT place, token FROM onebeat_permits WHERE app = :app AND prefix = :prefix"
_DEAD = "SELECT 1 FROM onebeat_replicas WHERE app = :app AND replica_id = :holder AND dead_at IS NOT NULL"
_TAKE = """
INSERT INTO onebeat_permits (app, prefix, place, token, holder, lease_until)
VALUES (:app, :prefix, :place, :token, :holder, :lease_until)
"""
_RETURN = "DELETE FROM onebeat_permits WHERE app = :app AND prefix = :prefix AND token = :token"


def take(db: sqlite3.Connection, permit: dict[str, object], *, most: int) -> bool:
    """Whether the permit's token has it now. Those taken while *most* was larger count as well. One who was
    declared dead gets none: what he took would be free for the others."""
    db.execute(_FREE, permit)
    taken = {token: place for place, token in db.execute(_TAKEN, permit)}
    if permit["token"] in taken:
        return True
    if len(taken) >= most or db.execute(_DEAD, permit).fetchone():
        return False
    place = min(set(range(1, most + 1)) - set(taken.values()))
    db.execute(_TAKE, {**permit, "place": place})
    return True


class FleetPermits(Embedded):
    """See Permits."""

    async def take_permit(
        self, prefix: str, *, most: int, token: str, lease: timedelta, replica: Replica
    ) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            now = self._now()
            permit: dict[str, object] = {
                "app": replica.app,
                "prefix": prefix,
                "token": token,
                "holder": replica.id,
                "now": now,
                "lease_until": now + min(lease, LONGEST) // MICROSECOND,
            }
            return take(db, permit, most=most)

        return await self._write(work)

    async def return_permit(self, prefix: str, *, token: str, replica: Replica) -> None:
        permit = {"app": replica.app, "prefix": prefix, "token": token}
        await self._write(lambda db: db.execute(_RETURN, permit).close())
