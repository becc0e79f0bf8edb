"""Claims on PostgreSQL."""

from onebeat.stores.postgres.schema import JOBS, MIGRATIONS, REPLICAS, TICKS, migration_sql
from onebeat.stores.postgres.store import PostgresStore

__all__ = ["JOBS", "MIGRATIONS", "REPLICAS", "TICKS", "PostgresStore", "migrate", "migration_sql"]


async def migrate(target: object, *, schema: str | None = None) -> None:
    """Make or update the tables of *target*, in *schema* or the first of the search path."""
    store = PostgresStore(target, schema=schema)
    try:
        await store.migrate()
    finally:
        await store.close()
