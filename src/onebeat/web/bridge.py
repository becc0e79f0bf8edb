"""The dashboard for apps that speak WSGI: Flask, or Django under gunicorn. Needs the extra `ui`."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, cast

from a2wsgi import ASGIMiddleware
from starlette.applications import Starlette

from onebeat.connect import connect
from onebeat.errors import InvalidSetting
from onebeat.web.dashboard import dashboard

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

_CLOSING = 2.0
"""Seconds for which the end of a process may wait for the connections to close."""


class Bridge:
    """*inner* as a WSGI app. It runs on a loop of its own, in a thread that each process starts with its
    first request: so a server may load the app before it forks. Its lifespan ends with the process."""

    def __init__(self, inner: Starlette) -> None:
        self._inner = inner
        self._making = threading.Lock()
        self._made: tuple[int, Any] | None = None

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        environ = {**environ, "PATH_INFO": path.encode().decode("latin-1")}
        answer: Iterable[bytes] = self._here()(environ, start_response)
        return answer

    def _here(self) -> Any:
        with self._making:
            if self._made is None or self._made[0] != os.getpid():
                self._made = os.getpid(), ASGIMiddleware(cast(Any, self._inner))
                _live_with_the_process(self._inner, self._made[1].loop)
            return self._made[1]


def _live_with_the_process(inner: Starlette, loop: asyncio.AbstractEventLoop) -> None:
    """Enter the lifespan of *inner* on *loop*, and leave it when this process exits."""
    ending = asyncio.Event()

    async def live() -> None:
        async with inner.router.lifespan_context(inner):
            await ending.wait()

    atexit.register(_end, os.getpid(), loop, ending, asyncio.run_coroutine_threadsafe(live(), loop))


def _end(pid: int, loop: asyncio.AbstractEventLoop, ending: asyncio.Event, life: Future[None]) -> None:
    if pid != os.getpid():  # a child that was forked has the registration, but no thread that runs the loop
        return
    loop.call_soon_threadsafe(ending.set)
    with suppress(Exception):  # the process ends, whatever could not be closed
        life.result(_CLOSING)


def wsgi(store: object, **settings: Any) -> Bridge:
    """A WSGI app that shows the fleet in *store*; *settings* are those of `dashboard`.

    Pages that are open ask every few seconds: a stream would hold a thread of the server for each. Raises
    InvalidSetting for a pool or engine that serves one loop alone.
    """
    found = connect(store)
    if found is not None and found.loop_bound is not None:
        raise InvalidSetting("store", found.loop_bound, "a URL: the dashboard runs on a loop of its own")
    return Bridge(dashboard(store, streaming=False, **settings))
