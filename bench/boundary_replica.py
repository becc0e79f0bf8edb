"""One replica of `bench/boundary.py`: many jobs due at one instant, and when their bodies began."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta

from onebeat import Run, Scheduler, cron


async def measure(dsn: str, jobs: int, instant: datetime) -> list[float]:
    """Seconds from *instant* to the start of each body this replica ran."""
    scheduler = Scheduler(dsn)
    began: list[float] = []
    due = instant.timestamp()

    async def body(run: Run) -> None:
        began.append(time.time() - due)

    async def nothing() -> None: ...

    at = cron(f"{instant.second} {instant.minute} {instant.hour} * * *", seconds=True)
    before = instant - timedelta(seconds=2)
    warming = cron(f"{before.second} {before.minute} {before.hour} * * *", seconds=True)
    scheduler.add("warming", warming, nothing)  # opens the connection, as any earlier tick has done
    for number in range(jobs):
        scheduler.add(f"job {number:05}", at, body)
    async with scheduler:
        await asyncio.sleep(due + max(3.0, jobs / 2_000) - time.time())
    return began


if __name__ == "__main__":
    dsn, jobs, instant = sys.argv[1:]
    began = asyncio.run(measure(dsn, int(jobs), datetime.fromtimestamp(float(instant), UTC)))
    print(json.dumps(began))
