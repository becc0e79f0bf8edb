"""What becomes of a watermark that a wrong clock has moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onebeat.stores.ruling.rows import JobRow, TickRow


def repair(job: JobRow | None, ticks: Mapping[int, TickRow], *, now: int) -> JobRow | None:
    """The job's row with a watermark ahead of *now* taken back; None when none is ahead.

    *ticks* are the job's rows by their instants. The watermark goes back to the newest claimed of them that
    *now* has reached. A lease taken by a clock that was ahead would block for as long as that clock led:
    it is counted from *now* instead.
    """
    if job is None or job.watermark is None or job.watermark <= now:
        return None
    reached = [at for at, tick in ticks.items() if tick.token and not tick.triggered and at <= now]
    if job.floor is not None:
        reached.append(job.floor)
    lease_until = job.lease_until
    for tick in ticks.values():
        if tick.token == job.token and lease_until is not None and tick.claimed_at is not None:
            lease_until = min(lease_until, now + lease_until - tick.claimed_at)
    return replace(job, watermark=max(reached, default=None), lease_until=lease_until)
