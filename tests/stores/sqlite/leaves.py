"""Gives up on a claim that another process blocks, run as a program: leaving must not wait for the lock."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta

from onebeat.model import Bid, Replica, Tick
from onebeat.stores.sqlite import SqliteStore


async def give_up() -> None:
    store = SqliteStore(sys.argv[1], busy_timeout=3600)
    bid = Bid(Tick("report", datetime(2026, 1, 1, tzinfo=UTC)), "token", lease=None)
    claim = store.claim([bid], replica=Replica("default", "a", "a"), timeout=timedelta(hours=1))
    task = asyncio.create_task(claim)
    await asyncio.sleep(0.1)
    task.cancel()


asyncio.run(give_up())
print("left", flush=True)
