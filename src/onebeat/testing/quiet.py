"""Knowing when a program has come to rest: its loops are quiet, and nothing is awaited elsewhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from functools import partial

from onebeat.clock import Timer

_TURNS = 10_000  # a task that polls without sleeping never rests: time has to go on all the same
_BLIND_TURNS = 100  # for loops that do not show what is ready


async def until_quiet(loops: Iterable[asyncio.AbstractEventLoop], patience: float) -> None:
    """Return when the running loop, and each of *loops*, has nothing left that is ready to run."""
    here = asyncio.get_running_loop()
    for loop in tuple(loops):
        if loop is not here and loop.is_running():
            await _quiet_over_there(loop, patience)
    await _quiet()


async def _quiet() -> None:
    """Take turns until ours is the only one."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    for _ in range(_BLIND_TURNS if ready is None else _TURNS):
        await asyncio.sleep(0)
        if ready is not None and not ready:
            return


async def _quiet_over_there(loop: asyncio.AbstractEventLoop, patience: float) -> None:
    turn = _quiet()
    try:
        over = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(turn, loop))
    except RuntimeError:  # closed since we looked
        turn.close()
        return
    await asyncio.wait({over}, timeout=patience)
    over.cancel()


async def sleep_by(call_later: Callable[[float, Callable[[], object]], Timer], seconds: float) -> None:
    """Return *seconds* later by the clock whose `call_later` this is."""
    if seconds <= 0:
        return await asyncio.sleep(0)
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = call_later(seconds, partial(wake, over))
    try:
        await over
    finally:
        timer.cancel()


def wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Blocks:
    """The open `elsewhere` blocks of all threads, and one waiter for their end."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._open: set[object] = set()
        self._lock = threading.Lock()
        self._waiter: asyncio.Future[None] | None = None

    def open(self) -> object:
        block = object()
        with self._lock:
            self._open.add(block)
        return block

    def close(self, block: object) -> None:
        with self._lock:
            self._open.discard(block)
            waiter = self._waiter
        if waiter is not None and not waiter.get_loop().is_closed():
            waiter.get_loop().call_soon_threadsafe(wake, waiter)

    @property
    def any_open(self) -> bool:
        return bool(self._open)

    async def wait_for_one(self) -> None:
        """Wait in real time until a block ends, if there is one.

        Out of patience, the open blocks are left behind: nobody waits for them again.
        """
        with self._lock:
            if not self._open:
                return
            self._waiter = asyncio.get_running_loop().create_future()
            waiting = set(self._open)
        done, _ = await asyncio.wait({self._waiter}, timeout=self.patience)
        with self._lock:
            self._waiter = None
            if not done:
                self._open -= waiting
