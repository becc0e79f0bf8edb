"""Which alarms sound, on PostgreSQL: a row is one that does."""

from __future__ import annotations

import json
from collections.abc import Collection

from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.durable import DURABLE

_RAISE = (
    DURABLE
    + """
, raised AS (
    INSERT INTO {alarms} (app, key) SELECT app, ask->>'key' FROM asked
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*)::text FROM raised
"""
)
_CLEAR = (
    DURABLE
    + """
, cleared AS (
    DELETE FROM {alarms} AS alarm USING asked
     WHERE alarm.app = asked.app AND alarm.key = ask->>'key'
    RETURNING 1
)
SELECT count(*)::text FROM cleared
"""
)
_SOUNDING = """
SELECT coalesce(json_agg(key), '[]')::text
  FROM {alarms} AS alarm, CAST($1::text AS jsonb) AS ask
 WHERE alarm.app = ask->>'app'
"""


class Alarms(Asking):
    """See AlarmBook."""

    async def raise_alarm(self, key: str, *, app: str) -> bool:
        return await self._insist(_RAISE, json.dumps({"app": app, "key": key}), "[]") == "1"

    async def clear_alarm(self, key: str, *, app: str) -> bool:
        return await self._insist(_CLEAR, json.dumps({"app": app, "key": key}), "[]") == "1"

    async def sounding(self, *, app: str) -> Collection[str]:
        told: list[str] = json.loads(await self._insist(_SOUNDING, json.dumps({"app": app})) or "[]")
        return told
