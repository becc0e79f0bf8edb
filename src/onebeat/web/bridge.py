"""The dashboard for apps that speak WSGI: Flask, or Django under gunicorn. Needs the extra `ui`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, cast

from a2wsgi import ASGIMiddleware
from starlette.applications import Starlette

from onebeat.connect import connect
from onebeat.errors import InvalidSetting
from onebeat.web.dashboard import dashboard

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class Bridge:
    """*inner* as a WSGI app. It runs on a loop of its own, in a thread that each process starts with its
    first request: so a server may load the app before it forks."""

    def __init__(self, inner: Starlette) -> None:
        self._inner = inner
        self._making = threading.Lock()
        self._made: tuple[int, Any] | None = None

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        answer: Iterable[bytes] = self._here()(environ, start_response)
        return answer

    def _here(self) -> Any:
        with self._making:
            if self._made is None or self._made[0] != os.getpid():
                self._made = os.getpid(), ASGIMiddleware(cast(Any, self._inner))
            return self._made[1]


def wsgi(store: object, **settings: Any) -> Bridge:
    """A WSGI app that shows the fleet in *store*; *settings* are those of `dashboard`.

    Pages that are open ask every few seconds: a stream would hold a thread of the server for each. Raises
    InvalidSetting for a pool or engine that serves one loop alone.
    """
    found = connect(store)
    if found is not None and found.loop_bound is not None:
        raise InvalidSetting("store", found.loop_bound, "a URL: the dashboard runs on a loop of its own")
    return Bridge(dashboard(store, streaming=False, **settings))
