"""What is old enough, or more than enough, and goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from onebeat.model import LONGEST
from onebeat.stores.ruling import MICROSECOND, TickKey

# Nobody runs it, and nobody is to: a lost tick is run no more once its job has gone on.
_OVER = """((token IS NULL OR released_at IS NOT NULL)
            AND (wanted IS NULL
                 OR wanted = 'rerun' AND scheduled_at < (SELECT watermark
                                                           FROM onebeat_jobs AS job
                                                          WHERE job.app = tick.app
                                                            AND job.job_id = tick.job_id)))"""
# The oldest first: so the floor shuts out few ticks of which a row is left.
_OLD = f"""
SELECT app, job_id, scheduled_at
  FROM onebeat_ticks AS tick
 WHERE app = :app AND scheduled_at < :kept_from AND {_OVER}
 ORDER BY scheduled_at
 LIMIT :limit
"""
_JOBS = "SELECT job_id FROM onebeat_jobs WHERE app = ?"
_BEYOND = f"""
SELECT app, job_id, scheduled_at
  FROM (SELECT *
          FROM onebeat_ticks
         WHERE app = :app AND job_id = :job_id
         ORDER BY scheduled_at DESC
         LIMIT -1 OFFSET :most) AS tick
 WHERE {_OVER}
 ORDER BY scheduled_at
 LIMIT :limit
"""
_RAISE_FLOOR = """
UPDATE onebeat_jobs
   SET floor = max(coalesce(floor, :scheduled_at), :scheduled_at)
 WHERE app = :app AND job_id = :job_id
"""
_DELETE = f"""
DELETE FROM onebeat_ticks AS tick
 WHERE app = :app AND job_id = :job_id AND scheduled_at = :scheduled_at AND {_OVER}
"""
_FORGET_THE_DEAD = "DELETE FROM onebeat_replicas WHERE app = ? AND buried_at IS NOT NULL AND dead_at < ?"
_DELETE_AUDIT = "DELETE FROM onebeat_audit WHERE app = ? AND at < ?"
_AUDIT_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Pruning:
    """What of an app is kept, at the present moment: what is younger, and the newest *most* of each job."""

    app: str
    now: int
    keep: timedelta
    most: int | None
    limit: int

    def find(self, db: sqlite3.Connection) -> Sequence[TickKey]:
        """At most *limit* ticks to delete."""
        asked = {"app": self.app, "kept_from": self._kept_from(self.keep), "limit": self.limit}
        found = dict.fromkeys(db.execute(_OLD, asked))
        if self.most is not None:
            for (job_id,) in db.execute(_JOBS, (self.app,)):
                if len(found) >= self.limit:
                    break
                found |= dict.fromkeys(db.execute(_BEYOND, {**asked, "job_id": job_id, "most": self.most}))
        return list(found)[: self.limit]

    def delete(self, db: sqlite3.Connection, keys: Iterable[TickKey]) -> int:
        """Raise the floors of their jobs to these ticks, then delete them; how many there still were."""
        named = [{"app": app, "job_id": job_id, "scheduled_at": at} for app, job_id, at in keys]
        db.executemany(_RAISE_FLOOR, named)
        deleted = db.executemany(_DELETE, named).rowcount if named else 0
        db.execute(_FORGET_THE_DEAD, (self.app, self._kept_from(self.keep)))
        db.execute(_DELETE_AUDIT, (self.app, self._kept_from(max(self.keep, _AUDIT_KEPT))))
        return deleted

    def _kept_from(self, keep: timedelta) -> int:
        return self.now - min(keep, LONGEST) // MICROSECOND
