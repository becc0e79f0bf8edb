"""What a doctor asks an SQLite file about itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onebeat.stores.ruling import instant
from onebeat.stores.sqlite.embedded import Embedded

_AHEAD = "SELECT job_id FROM onebeat_jobs WHERE app = ? AND watermark > ?"
_OLDEST = "SELECT min(scheduled_at) FROM onebeat_ticks WHERE app = ?"
_TOLERATED = 5_000_000


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

    async def file_health(self, path: str) -> Mapping[str, Any]:
        """See `onebeat.doctor.diagnose_sqlite`. Raises ClaimFailed when the file cannot be read."""

        def work(db: sqlite3.Connection) -> dict[str, Any]:
            return {
                "library": sqlite3.sqlite_version,
                "journal": db.execute("PRAGMA journal_mode").fetchone()[0],
                "check": db.execute("PRAGMA quick_check(1)").fetchone()[0],
                "size": os.path.getsize(path),
                "filesystem": _filesystem_of(path),
                "writable": os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK),
            }

        return await self._read(work)


def _filesystem_of(path: str) -> str:
    """The type of the file system that *path* lies on; empty where the machine does not tell."""
    found = "", ""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                _, place, kind, *_rest = line.split()
                if os.path.commonpath([place, path]) == place and len(place) >= len(found[0]):
                    found = place, kind
    except (OSError, ValueError):
        return ""
    return found[1]
