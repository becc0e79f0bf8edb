"""Which pause covered a tick, read back from the audit."""

from __future__ import annotations

from onebeat.control import Target
from onebeat.history import MOST_ROWS, AuditRecord, RunHistory
from onebeat.model import Tick

_MOST_PAGES = 10  # of the audit: what was asked ten thousand requests ago is left alone


async def pause_at(history: RunHistory, tick: Tick, app: str) -> AuditRecord | None:
    """The request that paused the tick's job, its prefix or its app over the tick's instant; None if none
    did. Of each target the newest request before that instant holds."""
    undecided = _targets(tick.job_id)
    after = None
    for _ in range(_MOST_PAGES):
        page = await history.audit(app=app, limit=MOST_ROWS, after=after)
        for row in page.rows:
            if row.action in ("pause", "resume") and row.at <= tick.scheduled_at and row.target in undecided:
                if row.action == "pause" and (row.until is None or row.until > tick.scheduled_at):
                    return row
                undecided.remove(row.target)
        after = page.next
        if after is None:
            break
    return None


def _targets(job_id: str) -> set[str]:
    """All that cover the job, in the words of the audit."""
    prefixes = (job_id[:length] for length in range(len(job_id) + 1))
    return {str(Target(job_id=job_id)), *(str(Target(prefix=prefix)) for prefix in prefixes)}
