"""A loop of our own, left behind without waiting for what does not end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_LAST_WORDS = 1.0


def run_on_own_loop(main: Coroutine[Any, Any, T]) -> T:
    """What *main* returns. Unlike `asyncio.run` it does not wait for ever for a task that will not be
    cancelled: the shutdown timeout has been granted to it already (X-STOP)."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main)
    finally:
        _leave(loop)
        asyncio.set_event_loop(None)
        loop.close()


def _leave(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=_LAST_WORDS))
    loop.run_until_complete(loop.shutdown_asyncgens())
