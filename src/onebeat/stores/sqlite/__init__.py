"""Claims in one SQLite file, for several processes on one machine (D-LITE)."""

from onebeat.stores.sqlite.file import apply_migrations
from onebeat.stores.sqlite.schema import migration_sql
from onebeat.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "apply_migrations", "migration_sql"]
