"""Worker threads for plain functions: ours, daemonic, so that a stuck one never holds the process."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from queue import SimpleQueue
from typing import Any

from onebeat.clock import Clock


class Threads:
    """At most *most* threads, made when needed and kept; work is handed to a waiting one first.

    asyncio's own executor would keep the interpreter from exiting until a stuck body ends (J-CANCEL).
    """

    def __init__(self, most: int, clock: Clock) -> None:
        self._clock = clock
        self._permits = asyncio.Semaphore(most)
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._alive = 0

    def permit(self) -> AbstractAsyncContextManager[None]:
        """Wait for a free thread; first come, first served."""
        return self._permits

    async def call(self, work: Callable[[], Any]) -> Any:
        """What *work* returns or raises, from a thread that carries this task's context variables.

        Cancelling this does not end the thread: nothing can.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def do() -> None:
            try:
                returned, error = context.run(work), None
            except BaseException as raised:
                returned, error = None, raised
            _hand_back(loop, future, returned, error)

        self._hand_over(do)
        with self._clock.elsewhere():
            returned, error = await future
        if error is not None:
            raise error
        return returned

    def close(self) -> None:
        """Let threads that wait for work end, and busy ones after their work."""
        with self._lock:
            alive = self._alive
        for _ in range(alive):
            self._queue.put(None)

    def _hand_over(self, do: Callable[[], None]) -> None:
        with self._lock:
            if self._waiting:
                self._waiting -= 1
            else:
                self._alive += 1
                threading.Thread(target=self._work, name=f"onebeat-{self._alive}", daemon=True).start()
        self._queue.put(do)

    def _work(self) -> None:
        while (do := self._queue.get()) is not None:
            do()
            del do  # else a waiting thread keeps its last body's arguments alive
            with self._lock:
                self._waiting += 1


def _hand_back(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    returned: object,
    error: BaseException | None,
) -> None:
    def settle() -> None:
        if not future.done():
            # A pair, not set_exception: a future refuses StopIteration, and a body may raise anything.
            future.set_result((returned, error))

    # The loop may be closed: then this run outlived its scheduler, and has been named for it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(settle)
