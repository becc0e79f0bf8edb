"""What is to be sent to one destination, in order, from a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

from onebeat.forks import at_fork

T = TypeVar("T")

_PAUSES = (1.0, 5.0, 30.0, 120.0)
LAST_SECONDS = 0.9
"""How long a stop waits for what is still to be sent: less than it waits for observers."""


class Undelivered(Exception):
    """It did not arrive; whether another try may help."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


class Outbox(Generic[T]):
    """Sends one thing after the other; what does not arrive is tried again after each of *pauses*.

    *undelivered* is told, in the thread, of what never arrived. Nothing here waits for a destination
    but the thread, which does not keep the process from exiting.
    """

    def __init__(
        self,
        send: Callable[[T], object],
        undelivered: Callable[[T, BaseException], object],
        *,
        pauses: Sequence[float] = _PAUSES,
        most_waiting: int = 1_000,
    ) -> None:
        self._send = send
        self._undelivered = undelivered
        self._pauses = pauses
        self._most_waiting = most_waiting
        self._thread: threading.Thread | None = None
        self._start_over()
        at_fork(in_child=self._start_over)

    def put(self, thing: T) -> None:
        """Have *thing* sent, after what was put before. From any thread, without waiting."""
        if self._waiting.qsize() >= self._most_waiting:
            self._undelivered(thing, Undelivered(f"{self._most_waiting} wait before it", again=False))
            return
        try:
            self._start()
        except RuntimeError as error:  # too many threads, or the interpreter is leaving
            self._undelivered(thing, error)
        else:
            self._waiting.put(thing)

    def close(self, seconds: float) -> None:
        """Wait, at most this long, until all is sent; what failed once is not tried again."""
        self._closing.set()
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(seconds)
            self._thread = None

    def _start_over(self) -> None:
        """Also what a forked child does first: the thread, and what waits, are its parent's."""
        self._starting = threading.Lock()
        self._closing = threading.Event()
        self._waiting: SimpleQueue[T | None] = SimpleQueue()
        self._thread = None

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._deliver_all, name="onebeat-alerts", daemon=True)
                thread.start()
                self._thread = thread

    def _deliver_all(self) -> None:
        waiting = self._waiting
        while (thing := waiting.get()) is not None:
            try:
                self._deliver(thing)
            except BaseException as error:  # a function of the user's may raise anything
                self._undelivered(thing, error)

    def _deliver(self, thing: T) -> None:
        for pause in (*self._pauses, None):
            try:
                self._send(thing)
            except Undelivered as error:
                if pause is None or not error.again or self._closing.wait(pause):
                    raise
            else:
                return


def close_all(outboxes: Iterable[Outbox[T]]) -> None:
    """Give each a moment to send what waits, all of them less than a second."""
    closing = list(outboxes)
    for outbox in closing:
        outbox.close(LAST_SECONDS / len(closing))
