"""Tasks that nobody awaits one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any


class Tasks:
    """Keeps its tasks alive until they end: the loop itself only holds them weakly."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(
        self, coroutine: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def any_left(self) -> bool:
        return bool(self._tasks)

    async def ended(self) -> None:
        """Return when none is left, of those spawned meanwhile either."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


def runs_now(task: asyncio.Task[Any] | None) -> bool:
    """Whether *task* is the one that runs; not so in a coroutine that is closed after its loop's end."""
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no loop runs
        return False


async def until_either(one: Coroutine[Any, Any, Any], other: asyncio.Future[Any]) -> None:
    """Return when *one* or *other* is done; *one* is cancelled if it is not."""
    waiting = asyncio.get_running_loop().create_task(one)
    try:
        await asyncio.wait({waiting, other}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
