"""What a doctor asks the server about itself and about our tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.channel import channel_of
from onebeat.stores.postgres.failures import UNDEFINED_TABLE, failed, sqlstate_of
from onebeat.stores.postgres.wire import instant, instant_or_none

_WAIT = 10.0
# Of the server's own views only: whatever is missing is a finding, not a failure.
_FACTS = """
SELECT json_build_object(
           'version', current_setting('server_version_num')::int,
           'isolation', current_setting('default_transaction_isolation'),
           'synchronous_commit', current_setting('synchronous_commit'),
           'fsync', current_setting('fsync')::bool,
           'autovacuum', current_setting('autovacuum')::bool,
           'standby', pg_is_in_recovery(),
           'standbys', (SELECT coalesce(json_agg(json_build_array(application_name, sync_state)), '[]')
                          FROM pg_stat_replication),
           'may_create', coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
           'now', clock_timestamp(),
           'tables', (
               SELECT json_object_agg(named.name, json_build_object(
                          'there', class.oid IS NOT NULL,
                          'granted', class.oid IS NOT NULL AND (
                              SELECT bool_and(has_table_privilege(class.oid, wanted))
                                FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted),
                          'live', coalesce(stat.n_live_tup, 0),
                          'dead', coalesce(stat.n_dead_tup, 0),
                          'size', coalesce(pg_total_relation_size(class.oid), 0)))
                 FROM jsonb_array_elements_text(CAST($1::text AS jsonb)) AS named(name)
                 LEFT JOIN pg_class AS class ON class.oid = to_regclass(named.name)
                 LEFT JOIN pg_stat_user_tables AS stat ON stat.relid = class.oid))::text
"""
_VERSION = "SELECT max(version)::text FROM {migrations}"
_FLEET = """
SELECT json_build_array(
           (SELECT coalesce(json_agg(job_id), '[]') FROM {jobs}
             WHERE app = $1::text AND watermark > clock_timestamp() + interval '5 seconds'),
           (SELECT min(scheduled_at) FROM {ticks} WHERE app = $1::text))::text
"""


class Health(Asking):
    """Asked by the doctor; makes no table."""

    async def health(self) -> Mapping[str, Any]:
        """See `onebeat.doctor.diagnose_postgres`. Raises ClaimFailed when the server cannot answer."""
        facts = json.loads(await self._fetched(_FACTS, json.dumps(self._tables.names)) or "{}")
        facts["now"] = instant(facts["now"])
        facts["direct"] = await self._is_direct()
        facts["schema_version"] = await self._version()
        return dict(facts)

    async def fleet_health(self, app: str) -> tuple[list[str], datetime | None]:
        """The jobs whose watermark lies in the future, and the oldest tick that is kept."""
        ahead, oldest = json.loads(await self._ask(_FLEET, app) or "[[], null]")
        return ahead, instant_or_none(oldest)

    async def _is_direct(self) -> bool | None:
        """None where that cannot be found out."""
        try:
            ear = await self._driver.listen(channel_of("doctor"))
        except self._driver.errors:
            return None
        if ear is not None:
            await ear.close()
        return ear is not None

    async def _version(self) -> int:
        try:
            return int(await self._driver.fetch(self._tables.into(_VERSION), wait=_WAIT) or 0)
        except self._driver.errors as error:
            if sqlstate_of(error) == UNDEFINED_TABLE or sqlstate_of(error) == "42501":
                return 0
            raise failed(error, self.label) from error

    async def _fetched(self, sql: str, text: str) -> str | None:
        try:
            return await self._driver.fetch(self._tables.into(sql), text, wait=_WAIT)
        except self._driver.errors as error:
            raise failed(error, self.label) from error
