"""Which alarms sound: a row is one that does."""

from __future__ import annotations

from collections.abc import Collection

from onebeat.stores.sqlite.embedded import Embedded

_RAISE = "INSERT INTO onebeat_alarms (app, key, raised_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_CLEAR = "DELETE FROM onebeat_alarms WHERE app = ? AND key = ?"
_SOUNDING = "SELECT key FROM onebeat_alarms WHERE app = ?"


class Alarms(Embedded):
    """See AlarmBook."""

    async def raise_alarm(self, key: str, *, app: str) -> bool:
        return await self._write(lambda db: db.execute(_RAISE, (app, key, self._now())).rowcount > 0)

    async def clear_alarm(self, key: str, *, app: str) -> bool:
        return await self._write(lambda db: db.execute(_CLEAR, (app, key)).rowcount > 0)

    async def sounding(self, *, app: str) -> Collection[str]:
        return await self._read(lambda db: [key for (key,) in db.execute(_SOUNDING, (app,))])
