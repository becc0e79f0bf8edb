"""A coroutine on a loop and in a thread of its own, beside the jobs' loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class OwnLoop:
    """Runs what *main* makes in a daemon thread: it cannot hold the interpreter's exit."""

    def __init__(self, name: str, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._main = main
        self._ended: Future[None] = Future()
        self._ended.set_running_or_notify_cancel()
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        """Cancel it, and return when it has ended."""
        loop, task = await asyncio.wrap_future(self._started)
        with suppress(RuntimeError):  # its loop is closed: it has ended
            loop.call_soon_threadsafe(task.cancel)
        await asyncio.wrap_future(self._ended)

    def _serve(self) -> None:
        try:
            with asyncio.Runner() as runner:
                runner.run(self._run())
        except BaseException as error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _run(self) -> None:
        task = asyncio.get_running_loop().create_task(self._main())
        self._started.set_result((asyncio.get_running_loop(), task))
        with suppress(asyncio.CancelledError):
            await task
