"""One of several processes on one file, run as a program: bids for every tick once, in an order of its own.

Says "ready", waits for a line, then prints each tick it has won.
"""

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta

from onebeat.model import Bid, Replica, Tick
from onebeat.stores.sqlite import SqliteStore

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TIMEOUT = timedelta(seconds=30)


async def bid_for(path: str, name: str, count: int) -> None:
    store = SqliteStore(path, busy_timeout=30)
    replica = Replica("default", name, name)
    for n in random.Random(name).sample(range(count), count):
        bid = Bid(Tick("report", FIRST + timedelta(seconds=n)), f"{name}-{n}", lease=None)
        [answer] = await store.claim([bid], replica=replica, timeout=TIMEOUT)
        if answer.won:
            print(n, flush=True)
    await store.close()


print("ready", flush=True)
sys.stdin.readline()
asyncio.run(bid_for(sys.argv[1], sys.argv[2], int(sys.argv[3])))
