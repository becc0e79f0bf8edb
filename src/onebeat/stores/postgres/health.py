"""What a doctor asks the server about itself and about our tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.channel import channel_of
from onebeat.stores.postgres.failures import UNDEFINED_TABLE, failed, sqlstate_of
from onebeat.stores.postgres.schema import migration_sql, newest_version
from onebeat.stores.postgres.wire import instant, instant_or_none

_WAIT = 10.0
_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE")
_INDEX = re.compile(r"CREATE INDEX (\w+) ON (.+) \(")
# Of the server's own views only: whatever is missing is a finding, not a failure. What this role may not see
# of others' sessions is null there.
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
           'waits_for', current_setting('synchronous_standby_names'),
           'longest', (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)
                         FROM pg_stat_activity WHERE backend_xmin IS NOT NULL),
           'may_create', CASE
               WHEN $2::text <> '' AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = $2::text)
               THEN has_database_privilege(current_database(), 'CREATE')
               ELSE coalesce(
                   has_schema_privilege(coalesce(nullif($2::text, ''), current_schema()), 'CREATE'), false)
               END,
           'now', clock_timestamp(),
           'tables', (
               SELECT json_object_agg(named.name, json_build_object(
                          'there', class.oid IS NOT NULL,
                          'granted', class.oid IS NOT NULL AND (
                              SELECT bool_and(has_table_privilege(class.oid, wanted))
                                FROM jsonb_array_elements_text(named.privileges) AS wanted),
                          'lacks', (
                              SELECT coalesce(json_agg(wanted), '[]')
                                FROM jsonb_array_elements_text(named.indexes) AS wanted
                               WHERE NOT EXISTS (
                                   SELECT FROM pg_index
                                     JOIN pg_class AS index ON index.oid = indexrelid
                                    WHERE indrelid = class.oid AND indisvalid AND index.relname = wanted)),
                          'vacuumed', NOT coalesce(
                              class.reloptions && ARRAY['autovacuum_enabled=false', 'autovacuum_enabled=off'],
                              false),
                          'live', coalesce(stat.n_live_tup, 0),
                          'dead', coalesce(stat.n_dead_tup, 0),
                          'last_vacuum', greatest(stat.last_autovacuum, stat.last_vacuum),
                          'size', coalesce(pg_total_relation_size(class.oid), 0)))
                 FROM jsonb_to_recordset($1::jsonb) AS named(name text, privileges jsonb, indexes jsonb)
                 LEFT JOIN pg_class AS class ON class.oid = to_regclass(named.name)
                 LEFT JOIN pg_stat_user_tables AS stat ON stat.relid = class.oid),
           'functions', (
               SELECT json_object_agg(signature, json_build_object(
                          'there', to_regprocedure(signature) IS NOT NULL,
                          'granted', coalesce(
                              has_function_privilege(to_regprocedure(signature), 'EXECUTE'), false)))
                 FROM json_array_elements_text($3::json) AS signature))::text
"""
_VERSION = "SELECT max(version)::text FROM {migrations}"
_NO_VERSION = {UNDEFINED_TABLE: 0, "42501": None}
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
        direct, version = await self._is_direct(), await self._version()
        # Last, for the sake of its clock: what else takes time would be counted as a difference.
        facts = json.loads(
            await self._fetched(
                _FACTS,
                json.dumps(self._wanted()),
                self._tables.schema or "",
                json.dumps(self._tables.functions),
            )
            or "{}"
        )
        facts["now"] = instant(facts["now"])
        for table in facts["tables"].values():
            table["last_vacuum"] = instant_or_none(table["last_vacuum"])
        known = {"direct": direct, "schema_version": version, "newest_version": newest_version()}
        return {**facts, **known}

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

    async def _version(self) -> int | None:
        """0 where there are no tables, None where it may not be read."""
        try:
            return int(await self._driver.fetch(self._tables.into(_VERSION), wait=_WAIT) or 0)
        except self._driver.errors as error:
            if sqlstate_of(error) in _NO_VERSION:
                return _NO_VERSION[sqlstate_of(error)]
            raise failed(error, self.label) from error

    def _wanted(self) -> list[dict[str, Any]]:
        """Of each table: its name, what to be allowed, and the indexes it is to have."""
        migrations = self._tables.into("{migrations}")
        indexes = _INDEX.findall(migration_sql(self._tables.schema))
        return [
            {
                "name": table,
                "privileges": _PRIVILEGES[:1] if table == migrations else _PRIVILEGES,
                "indexes": [
                    f"{table.rpartition('.')[2]}_pkey",
                    *(index for index, its_table in indexes if its_table == table),
                ],
            }
            for table in self._tables.names
        ]

    async def _fetched(self, sql: str, *texts: str) -> str | None:
        try:
            return await self._driver.fetch(self._tables.into(sql), *texts, wait=_WAIT)
        except self._driver.errors as error:
            raise failed(error, self.label) from error
