"""A URL, a pool or an engine becomes the store it names."""

from __future__ import annotations

from typing import Any, cast

from onebeat.claims import ClaimStore
from onebeat.clock import Clock
from onebeat.errors import InvalidSetting

_EXPECTED = (
    "memory://, sqlite:///file.db, a postgresql:// URL, a psycopg or asyncpg pool, a SQLAlchemy engine, "
    "Django's connection, or a ClaimStore"
)
_METHODS = ("claim", "release", "prune", "repair", "close")
_PROPERTIES = ("label", "loop_bound", "tolerance")
_SQLITE = "sqlite:///"


def connect(target: object, *, clock: Clock | None = None, **options: Any) -> ClaimStore | None:
    """The store *target* names; None for None and for an empty text, such as an unset DATABASE_URL.

    *options* are the store's own: `schema=` on PostgreSQL, `synchronous=` on SQLite, `tolerance=` on all.
    *clock* is what stores without a server judge by. Nothing is opened yet. Raises InvalidSetting for
    anything else, and never repeats the target, which may hold a password.
    """
    if target is None or target == "":
        return None
    from onebeat.stores.postgres.targets import is_dsn, is_handle  # not needed without a store

    if is_dsn(target) or is_handle(target):
        from onebeat.stores.postgres import PostgresStore

        return PostgresStore(target, **options)
    if isinstance(target, str):
        return _embedded(target, clock, options)
    lacks = ", ".join(_missing_of_a_store(target))
    if lacks:
        raise InvalidSetting("store", _kind(target), _EXPECTED, f"as a ClaimStore it lacks {lacks}")
    if options:
        raise InvalidSetting("store", sorted(options), "no options for a store that is made already")
    return cast(ClaimStore, target)


def _embedded(url: str, clock: Clock | None, options: dict[str, Any]) -> ClaimStore:
    if url == "memory://":
        from onebeat.stores.memory import MemoryStore

        return MemoryStore(clock=clock, **options)
    if url.startswith(_SQLITE):
        from onebeat.stores.sqlite import SqliteStore

        return SqliteStore(_path(url), clock=clock, **options)
    raise InvalidSetting("store", _scheme(url), _EXPECTED, _hint(url))


def _missing_of_a_store(target: object) -> list[str]:
    if isinstance(target, type):
        return ["an instance"]
    methods = [name for name in _METHODS if not callable(getattr(target, name, None))]
    return methods + [name for name in _PROPERTIES if not hasattr(target, name)]


def _path(url: str) -> str:
    path = url.removeprefix(_SQLITE)
    if path in ("", ":memory:"):
        raise InvalidSetting("store", url, "sqlite:///relative.db or sqlite:////absolute.db", "or memory://")
    return path


def _scheme(url: str) -> str:
    """All of *url* that may be shown: what stands after it may be a password."""
    scheme, found, _ = url.partition("://")
    return f"{scheme}://…" if found and len(scheme) <= 40 else "a text that is no URL"


def _hint(url: str) -> str:
    if url.startswith(("postgresql+", "postgres+")):
        return "write postgresql:// without a driver, or give the engine itself"
    if url.startswith("sqlite:"):
        return "sqlite:///relative.db or sqlite:////absolute.db"
    return ""


def _kind(target: object) -> str:
    return f"{type(target).__module__}.{type(target).__qualname__}"
