"""Waiting for a store no longer than it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from onebeat.clock import Clock
from onebeat.errors import ClaimFailed, ClaimFailure

T = TypeVar("T")


async def bounded(asking: Coroutine[Any, Any, T], seconds: float, clock: Clock) -> T:
    """What *asking* answers. After *seconds* it is cancelled, and its connection with it.

    Raises ClaimFailed, whatever the store raised: a store written elsewhere must not end the scheduler.
    """
    task = asyncio.get_running_loop().create_task(asking)
    timer = clock.call_later(seconds, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        timer.cancel()
        task.cancel()
    if task.cancelled():
        raise ClaimFailed(f"the store did not answer for {seconds:g} s", ClaimFailure.TIMEOUT)
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, ClaimFailed):
        raise error
    raise ClaimFailed(f"{type(error).__name__}: {error}") from error
