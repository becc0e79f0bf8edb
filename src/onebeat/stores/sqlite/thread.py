"""A thread for calls that block, and what a fork does to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from onebeat.forks import at_fork

T = TypeVar("T")
_Calls = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]


class OwnThread:
    """Runs calls one after another in one daemon thread, started when first needed, on behalf of any loop.

    Not an executor: that would hold the interpreter's exit until its last call has ended.

    A fork waits for the call in hand, then *rest* is called, in the thread that forks, to close what must
    not be shared; parent and child go on apart, the child without the calls its parent still had to make.
    """

    def __init__(self, name: str, *, rest: Callable[[], None]) -> None:
        self._name = name
        self._rest = rest
        self._calls: _Calls | None = None
        self._start = Lock()
        self._working = Lock()
        at_fork(before=self._before_fork, in_parent=self._after_in_parent, in_child=self._after_in_child)

    async def call(self, work: Callable[[], T]) -> T:
        """What *work* returns or raises. Cancelled, it is dropped if it waits, else goes on unheard."""
        future: Future[T] = Future()
        with self._start:
            if self._calls is None:
                calls: _Calls = SimpleQueue()
                Thread(target=self._serve, args=(calls,), name=self._name, daemon=True).start()
                self._calls = calls  # not before: a thread that cannot start now may start another time
            self._calls.put((future, work))
        return await asyncio.wrap_future(future)

    async def stop(self) -> None:
        """Rest when the calls in hand have ended, and end the thread. A later call starts another.

        Cancelled, it is not waited for, but happens all the same.
        """
        with self._start:
            calls, self._calls = self._calls, None
            if calls is None:
                return
            rested: Future[None] = Future()
            calls.put((Future(), lambda: self._rest_then(rested)))
            calls.put(None)
        await asyncio.wrap_future(rested)

    def _rest_then(self, rested: Future[None]) -> None:
        try:
            self._rest()
        finally:
            if rested.set_running_or_notify_cancel():
                rested.set_result(None)

    def _serve(self, calls: _Calls) -> None:
        while (call := calls.get()) is not None:
            self._run(*call)
            del call  # else the last answer would be kept until the next one

    def _run(self, future: Future[T], work: Callable[[], T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        with self._working:
            try:
                answer = work()
            except Exception as error:  # raised where it is awaited
                future.set_exception(error)
            else:
                future.set_result(answer)

    def _before_fork(self) -> None:
        self._start.acquire()
        self._working.acquire()
        self._rest()

    def _after_in_parent(self) -> None:
        self._working.release()
        self._start.release()

    def _after_in_child(self) -> None:
        self._calls = None  # its thread was left behind
        self._after_in_parent()
