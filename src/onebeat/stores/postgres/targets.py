"""Which adapter serves a target; the driver is imported only once it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from onebeat.errors import InvalidSetting

if TYPE_CHECKING:
    from onebeat.stores.postgres.driver import Driver

_INSTALL = "pip install onebeat[postgres], or [all] for every driver"

# The class that names a kind of target, wherever a subclass of it comes from -> adapter module and class.
_KINDS = {
    ("psycopg_pool", "AsyncConnectionPool"): ("psycopg_async", "AppPool"),
    ("psycopg_pool", "AsyncNullConnectionPool"): ("psycopg_async", "AppPool"),
    ("psycopg_pool", "ConnectionPool"): ("psycopg_sync", "AppPool"),
    ("psycopg_pool", "NullConnectionPool"): ("psycopg_sync", "AppPool"),
    ("asyncpg", "Pool"): ("asyncpg_pool", "AppPool"),
    ("sqlalchemy", "Engine"): ("sqlalchemy_engine", "AppEngine"),
    ("sqlalchemy", "AsyncEngine"): ("sqlalchemy_engine", "AppAsyncEngine"),
    ("django", "ConnectionProxy"): ("django_connection", "DjangoConnection"),
    ("django", "BaseDatabaseWrapper"): ("django_connection", "DjangoConnection"),
}


def is_dsn(target: object) -> bool:
    """Whether *target* is a URL or a key=value text that names a PostgreSQL database."""
    if not isinstance(target, str):
        return False
    if "://" in target:
        return target.startswith(("postgresql://", "postgres://"))
    return any(word.partition("=")[0] in ("host", "dbname", "service") for word in target.split())


def is_handle(target: object) -> bool:
    """Whether *target* is a pool, an engine or a connection that an adapter knows. Imports no driver."""
    return _kind(target) is not None


def driver_for(target: object) -> Driver:
    """The adapter for *target*. Raises InvalidSetting, without repeating any password."""
    if is_dsn(target):
        return _adapter("psycopg_async", "OwnPool", target)
    kind = _kind(target)
    if kind is None:
        got = "a text" if isinstance(target, str) else type(target).__qualname__
        raise InvalidSetting(
            "store",
            got,
            "a postgresql:// URL, a psycopg or asyncpg pool, a SQLAlchemy engine, or Django's connection",
        )
    return _adapter(*kind, target)


def _kind(target: object) -> tuple[str, str] | None:
    for parent in type(target).__mro__:
        kind = _KINDS.get((parent.__module__.partition(".")[0], parent.__qualname__))
        if kind is not None:
            return kind
    return None


def _adapter(module: str, name: str, target: object) -> Driver:
    try:
        adapters = import_module(f"onebeat.stores.postgres.{module}")
    except ImportError as error:
        raise InvalidSetting(
            "store", "a PostgreSQL target", "its driver to be installed", _INSTALL
        ) from error
    return cast("Driver", getattr(adapters, name)(target))
