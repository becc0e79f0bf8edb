"""SQLite's errors as those of the contract."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onebeat.errors import ClaimFailed, ClaimFailure, StoreUnusable

# Faults of what was asked, not of the database: asked again they would fail again.
_REFUSALS = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    UnicodeError,
    OverflowError,
)


@contextmanager
def told_by(label: str, *, advice: Callable[[sqlite3.Error], str] = str) -> Iterator[None]:
    """Whatever keeps the block from an answer is a ClaimFailed that says where, and what to do."""
    try:
        yield
    except _REFUSALS as error:
        raise ClaimFailed(f"{label}: {error}", ClaimFailure.REFUSED) from error
    except sqlite3.Error as error:
        raise ClaimFailed(f"{label}: {advice(error)}") from error
    except StoreUnusable as error:
        raise ClaimFailed(str(error)) from error
