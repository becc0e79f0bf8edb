"""One replica of `bench/fleet.py`: many jobs, none of them due."""

from __future__ import annotations

import asyncio
import sys

from onebeat import Scheduler, cron


async def serve(dsn: str, jobs: int) -> None:
    scheduler = Scheduler(dsn)
    for number in range(jobs):
        scheduler.add(f"job {number:05}", cron(f"{number % 60} {number // 60 % 24} 29 2 *"), lambda: None)
    async with scheduler:
        print("ready", flush=True)
        await asyncio.sleep(3_600)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
