"""The store on PostgreSQL. Whoever only asks what a target is (targets.py) does not load the rest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onebeat.stores.postgres.schema import (
        ALARMS,
        AUDIT,
        JOBS,
        MIGRATIONS,
        PAUSES,
        PERMITS,
        REPLICAS,
        TICKS,
        migration_sql,
    )
    from onebeat.stores.postgres.store import PostgresStore

__all__ = [
    "ALARMS",
    "AUDIT",
    "JOBS",
    "MIGRATIONS",
    "PAUSES",
    "PERMITS",
    "REPLICAS",
    "TICKS",
    "PostgresStore",
    "migrate",
    "migration_sql",
]


async def migrate(target: object, *, schema: str | None = None) -> None:
    """Make or update the tables of *target*, in *schema* or the first of the search path."""
    from onebeat.stores.postgres.store import PostgresStore

    store = PostgresStore(target, schema=schema)
    try:
        await store.migrate()
    finally:
        await store.close()


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = "store" if name == "PostgresStore" else "schema"
    return getattr(import_module(f"{__name__}.{file}"), name)
