"""Forks while its store is busy, run as a program: parent and children share the file, and nothing else.

Every child bids for the parent's tick, which it must lose, and for one of its own.
Exits with 0 if all is well.
"""

import asyncio
import os
import sys
import threading
from datetime import UTC, datetime, timedelta

from onebeat.model import Bid, Replica, Tick
from onebeat.stores.sqlite import SqliteStore

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
CHILDREN = 12
store = SqliteStore(sys.argv[1], busy_timeout=30)
over = threading.Event()


async def wins(name: str, n: int) -> bool:
    bid = Bid(Tick("report", FIRST + timedelta(seconds=n)), f"{name}-{n}", lease=None)
    [answer] = await store.claim([bid], replica=Replica("default", name, name), timeout=timedelta(seconds=30))
    return answer.won


async def keep_busy() -> None:
    n = 1_000
    while not over.is_set():
        n += 1
        await wins("parent", n)


def open_descriptors() -> list[str]:
    """Where this process's open files lead; nothing where the system does not tell."""
    folder = "/proc/self/fd"
    return [os.path.realpath(f"{folder}/{n}") for n in os.listdir(folder)] if os.path.isdir(folder) else []


async def as_child(n: int) -> bool:
    if any(sys.argv[1] in name for name in open_descriptors()):
        return False  # SQLite would take the parent's locks for the child's
    lost = not await wins(f"child-{n}", 0)
    won = await wins(f"child-{n}", n)
    await store.close()
    return lost and won


async def as_parent() -> bool:
    return not any([await wins("parent", n) for n in range(1, CHILDREN + 1)])


assert asyncio.run(wins("parent", 0))
busy = threading.Thread(target=asyncio.run, args=(keep_busy(),))
busy.start()
children = []
for n in range(1, CHILDREN + 1):
    child = os.fork()
    if child == 0:
        os._exit(0 if asyncio.run(as_child(n)) else 1)
    children.append(child)
ended = [os.waitpid(child, 0)[1] for child in children]
over.set()
busy.join()
sys.exit(0 if not any(ended) and asyncio.run(as_parent()) else f"children: {ended}")
