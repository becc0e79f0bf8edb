"""A scheduler for programs without an event loop: in a thread of its own, with a loop of its own."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from onebeat.engine.loops import run_on_own_loop

Serve = Callable[[Callable[[], object]], Coroutine[Any, Any, None]]


class Background:
    """A scheduler that serves in a daemon thread until `stop()` or the interpreter's exit.

    A copy of the process made by fork has no such thread: there, this does nothing.
    """

    def __init__(self, serve: Serve, stop: Callable[[], object]) -> None:
        """Start it. *serve* is given what to call once it has begun; what it raises before is raised here."""
        self._stop = stop
        self._pid = os.getpid()
        begun: Future[None] = Future()
        self._thread = threading.Thread(
            target=_serve, args=(serve, begun), name="onebeat scheduler", daemon=True
        )
        self._thread.start()
        begun.result()
        atexit.register(self.stop)

    @property
    def running(self) -> bool:
        return self._pid == os.getpid() and self._thread.is_alive()

    def stop(self, wait: float | None = None) -> bool:
        """Stop in order and wait for the end, at most *wait* seconds (None: as long as the shutdown
        takes, which its timeout bounds); whether it has ended. Harmless again, and after a fork.
        On its own thread it does not wait."""
        atexit.unregister(self.stop)
        if self.running:
            self._stop()
            if threading.current_thread() is not self._thread:
                self._thread.join(wait)
        return not self.running


def _serve(serve: Serve, begun: Future[None]) -> None:
    try:
        run_on_own_loop(serve(lambda: begun.set_result(None)))
    except BaseException as error:
        if begun.done():
            raise
        begun.set_exception(error)
