"""The place a psycopg conninfo names."""

from __future__ import annotations

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from onebeat.stores.postgres.driver import label_of


def label_of_dsn(dsn: object) -> str:
    """The place *dsn* names; a pool may also have its conninfo from a callable, which tells nothing."""
    if not isinstance(dsn, str):
        return label_of(None, None, None)
    try:
        parts = conninfo_to_dict(dsn)
    except ProgrammingError:
        # Not raised from here: its message would repeat the text, password and all.
        parts = {}
    return label_of(parts.get("host"), parts.get("port"), parts.get("dbname"))
