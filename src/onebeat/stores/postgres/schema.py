"""The tables and functions, and the numbered migrations that make them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from importlib import resources

from onebeat.errors import InvalidSetting

JOBS = "onebeat_jobs"
TICKS = "onebeat_ticks"
REPLICAS = "onebeat_replicas"
PAUSES = "onebeat_pauses"
AUDIT = "onebeat_audit"
PERMITS = "onebeat_permits"
ALARMS = "onebeat_alarms"
MIGRATIONS = "onebeat_migrations"

_CLAIM = "onebeat_claim"
_RELEASE = "onebeat_release"

_ONCE = """
DO $onebeat$
BEGIN
-- Those who start at the same moment wait here for the first one, and then find it done.
PERFORM pg_advisory_xact_lock({lock});
{create_schema}CREATE TABLE IF NOT EXISTS {migrations} (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
{steps}END
$onebeat$;
"""

_CREATE_SCHEMA = """IF to_regnamespace({literal}) IS NULL THEN
    CREATE SCHEMA {schema};
END IF;
"""

_STEP = """
IF NOT EXISTS (SELECT FROM {migrations} WHERE version = {version}){or_gone} THEN
{body}
INSERT INTO {migrations} (version, name) VALUES ({version}, '{name}') ON CONFLICT (version) DO NOTHING;
END IF;
"""

# A function is made again where it was dropped, by a restore that left it out, say: that loses nothing.
_OR_GONE = " OR to_regprocedure({signature}) IS NULL"
_MADE = re.compile(r"CREATE OR REPLACE FUNCTION (\{\w+\}\([^)]*\))")


class Tables:
    """The names of the tables as SQL writes them, in *schema* or the first of the search path."""

    def __init__(self, schema: str | None = None) -> None:
        if schema is not None and not _is_name(schema):
            raise InvalidSetting("schema", schema, "the name of a schema, 1 to 63 bytes")
        self.schema = schema
        self._names = {
            "jobs": self._qualified(JOBS),
            "ticks": self._qualified(TICKS),
            "replicas": self._qualified(REPLICAS),
            "pauses": self._qualified(PAUSES),
            "audit": self._qualified(AUDIT),
            "permits": self._qualified(PERMITS),
            "alarms": self._qualified(ALARMS),
            "migrations": self._qualified(MIGRATIONS),
        }
        self._functions = {"claim": self._qualified(_CLAIM), "release": self._qualified(_RELEASE)}

    @property
    def names(self) -> list[str]:
        """As SQL writes them."""
        return list(self._names.values())

    @property
    def functions(self) -> list[str]:
        """The functions, likewise, each with the types of its arguments."""
        return [f"{name}(text, text)" for name in self._functions.values()]

    def into(self, sql: str) -> str:
        """*sql* with its `{jobs}`, `{ticks}`, `{claim}` … replaced by the names."""
        for key, name in (self._names | self._functions).items():
            sql = sql.replace("{" + key + "}", name)
        return sql

    def _qualified(self, table: str) -> str:
        return table if self.schema is None else f"{_quoted(self.schema)}.{table}"


def _is_name(schema: object) -> bool:
    """Whether PostgreSQL can have a schema of that name, and tell it from all others."""
    try:
        return isinstance(schema, str) and "\0" not in schema and 0 < len(schema.encode()) <= 63
    except UnicodeEncodeError:  # a lone surrogate: bytes of the command line that are no text
        return False


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def advisory_key(purpose: str) -> int:
    """A key for PostgreSQL's advisory locks: the same everywhere for the same purpose."""
    return int.from_bytes(hashlib.sha256(f"onebeat {purpose}".encode()).digest()[:8], signed=True)


def newest_version() -> int:
    """The schema version this release of onebeat knows."""
    return max(version for version, _, _ in _migrations())


def migration_sql(schema: str | None = None) -> str:
    """One statement that brings the tables to the newest version from any older one, or from nothing.

    Safe to run again, and by many at once.
    """
    tables = Tables(schema)
    steps = (_step(tables, *migration) for migration in _migrations())
    script = _ONCE.replace("{steps}", "".join(steps)).replace("{lock}", str(advisory_key("migrations")))
    return tables.into(script.replace("{create_schema}", _create_schema(schema)))


def _step(tables: Tables, version: int, name: str, body: str) -> str:
    step = _STEP.replace("{version}", str(version)).replace("{name}", name)
    made = (_literal(tables.into(signature)) for signature in _MADE.findall(body))
    or_gone = "".join(_OR_GONE.replace("{signature}", signature) for signature in made)
    return step.replace("{or_gone}", or_gone).replace("{body}", body)


def _create_schema(schema: str | None) -> str:
    if schema is None:
        return ""
    name = _quoted(schema)
    return _CREATE_SCHEMA.replace("{literal}", _literal(name)).replace("{schema}", name)


def _migrations() -> Iterator[tuple[int, str, str]]:
    """Version, name and SQL of each migration, in order."""
    folder = resources.files(__package__) / "migrations"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            name = file.name.removesuffix(".sql")
            yield int(name.split("_")[0]), name, file.read_text(encoding="utf-8")
