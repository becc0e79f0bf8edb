"""What a doctor asks an SQLite file about itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from onebeat.stores.ruling import instant
from onebeat.stores.sqlite.embedded import Embedded
from onebeat.stores.sqlite.failures import told_by
from onebeat.stores.sqlite.file import LEAST_VERSION
from onebeat.stores.sqlite.schema import MIGRATIONS, version_of

_AHEAD = "SELECT job_id FROM onebeat_jobs WHERE app = ? AND watermark > ?"
_OLDEST = "SELECT min(scheduled_at) FROM onebeat_ticks WHERE app = ?"
_TOLERATED = 5_000_000
_PATIENCE = 5.0


class Health(Embedded):
    """Asked by the doctor."""

    async def fleet_health(self, app: str) -> tuple[list[str], datetime | None]:
        """The jobs whose watermark lies in the future, and the oldest tick that is kept."""
        until = self._now() + _TOLERATED

        def work(db: sqlite3.Connection) -> tuple[list[str], datetime | None]:
            ahead = [job_id for (job_id,) in db.execute(_AHEAD, (app, until))]
            (oldest,) = db.execute(_OLDEST, (app,)).fetchone()
            return ahead, None if oldest is None else instant(oldest)

        return await self._read(work)


def file_health(path: str) -> Mapping[str, Any]:
    """See `onebeat.doctor.diagnose_sqlite`. Only looks: makes no file and no table.

    Raises ClaimFailed when the file cannot be read.
    """
    folder = os.path.dirname(os.path.abspath(path))
    facts = {
        "library": sqlite3.sqlite_version,
        "old_library": sqlite3.sqlite_version_info < LEAST_VERSION,
        "there": os.path.exists(path),
        "filesystem": _filesystem_of(folder),
        "writable": os.access(folder, os.W_OK) and (not os.path.exists(path) or os.access(path, os.W_OK)),
    }
    with told_by(f"sqlite:///{path}"):
        return {**facts, **_contents(path)} if facts["there"] else facts


def _contents(path: str) -> Mapping[str, Any]:
    db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)
    try:
        return {
            "journal": db.execute("PRAGMA journal_mode").fetchone()[0],
            "check": db.execute("PRAGMA quick_check(1)").fetchone()[0],
            "size": os.path.getsize(path),
            "schema_version": version_of(db),
            "newest_version": len(MIGRATIONS),
        }
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        return {"check": str(error)}
    finally:
        db.close()


def _filesystem_of(folder: str) -> str:
    """The type of the file system that *folder* lies on; empty where the machine does not tell."""
    real, found = os.path.realpath(folder), ("", "")
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                _, place, kind, *_rest = line.split()
                place = place.replace("\\040", " ")
                if os.path.commonpath([place, real]) == place and len(place) >= len(found[0]):
                    found = place, kind
    except (OSError, ValueError):
        return ""
    return found[1]
