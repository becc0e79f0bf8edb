"""What a replica costs while nothing is due: processor time over a minute, as a share of one core.

python -m bench.idle [SECONDS]
"""

from __future__ import annotations

import asyncio
import sys
import time

from onebeat import Scheduler, cron
from tests.servers.postgres import Postgres

_BAR = 0.002
_JOBS = 100


async def idle_share(dsn: str, seconds: float) -> float:
    """Of one core, once the replica has settled."""
    scheduler = Scheduler(dsn)
    for number in range(_JOBS):
        scheduler.add(f"job {number}", cron(f"{number % 60} 0 29 2 *"), lambda: None)
    async with scheduler:
        await asyncio.sleep(2)
        began = time.process_time()
        await asyncio.sleep(seconds)
        return (time.process_time() - began) / seconds


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with Postgres() as server:
        share = asyncio.run(idle_share(server.dsn(), seconds))
    met = share < _BAR
    verdict = "PASS" if met else "FAIL"
    print(f"idle replica, {_JOBS} jobs, {seconds:g} s: {share:.3%} of a core (bar {_BAR:.1%}) {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
