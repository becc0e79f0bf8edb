"""Waiting for a store no longer than it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from onebeat.clock import Clock
from onebeat.errors import ClaimFailed, ClaimFailure

T = TypeVar("T")


async def bounded(ask: Callable[[], Awaitable[T]], seconds: float, clock: Clock) -> T:
    """What *ask* answers. After *seconds* it is cancelled, and its connection with it.

    Raises ClaimFailed, whatever the store raised: a store written elsewhere must not end the scheduler.
    """
    task = asyncio.get_running_loop().create_task(asked(ask))
    timer = clock.call_later(seconds, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        timer.cancel()
        task.cancel()
    if task.cancelled():
        raise ClaimFailed(f"the store did not answer for {seconds:g} s", ClaimFailure.TIMEOUT)
    return task.result()


async def asked(ask: Callable[[], Awaitable[T]]) -> T:
    """What *ask* answers, for as long as it takes. Raises ClaimFailed, whatever the store raised."""
    try:
        return await ask()
    except ClaimFailed:
        raise
    except (Exception, SystemExit) as error:  # a task that ends with SystemExit takes its loop along
        raise as_failure(error) from error


def as_failure(error: BaseException) -> ClaimFailed:
    """*error* as the one kind of failure that the engine speaks of."""
    if isinstance(error, ClaimFailed):
        return error
    failure = ClaimFailed(f"{type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
