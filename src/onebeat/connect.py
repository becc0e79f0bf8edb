"""A URL, a pool or an engine becomes the store it names."""

from __future__ import annotations

from typing import Any

from onebeat.claims import ClaimStore
from onebeat.errors import InvalidSetting


def connect(target: object, **options: Any) -> ClaimStore | None:
    """The store *target* names; None for None and for an empty text."""
    if target is None or target == "":
        return None
    if isinstance(target, str) and target == "memory://":
        from onebeat.stores.memory import MemoryStore

        return MemoryStore(**options)
    if isinstance(target, str) and target.startswith("sqlite:///"):
        from onebeat.stores.sqlite import SqliteStore

        return SqliteStore(target.removeprefix("sqlite:///"), **options)
    if hasattr(target, "claim") and hasattr(target, "release"):
        return target  # type: ignore[return-value]
    raise InvalidSetting("store", type(target).__name__, "a URL, a pool, an engine or a ClaimStore")
