"""One event out to every observer, none of which can change a run (T-EVENT)."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from onebeat.errors import InvalidSetting
from onebeat.forks import at_fork

if TYPE_CHECKING:
    from onebeat.events import Event, Observer

MOST_WAITING = 10_000
"""How many events may wait for slow observers; what comes on top is dropped for them."""


class Relay:
    """Tells each observer of each event, and is an observer itself. Callable from any thread.

    Inline observers are called at once, every other one from a daemon thread of the relay's own,
    in the order of the events. Whatever an observer raises is logged once per kind of error.
    Raises InvalidSetting for an observer that cannot be called, or only awaited.
    """

    inline = True

    def __init__(self, observers: Sequence[Observer], logger: logging.Logger) -> None:
        checked = [_checked(observer) for observer in observers]
        self._inline = [observer for observer in checked if getattr(observer, "inline", False)]
        self._apart = [observer for observer in checked if not getattr(observer, "inline", False)]
        self._logger = logger
        self._complained: set[tuple[int, type[BaseException]]] = set()
        self._closed = False
        self._start_over()
        if self._apart:
            at_fork(in_child=self._start_over)

    def put_first(self, *inline: Observer) -> None:
        """Have these told before all others, at once, of every event from now on."""
        self._inline[:0] = inline

    def __call__(self, event: Event) -> None:
        for observer in self._inline:
            self._tell(observer, event)
        if self._apart and not self._closed:
            self._post(event)

    def close(self, timeout_seconds: float) -> None:
        """Wait, at most this long, until the observers in the thread have heard everything; then stop it.

        Blocks its caller. What is still unheard then is lost, with one WARNING. Inline observers
        go on hearing of late events.
        """
        self._closed = True
        thread = self._thread
        if thread is None:
            return
        self._waiting.put(None)
        thread.join(timeout_seconds)
        if thread.is_alive():
            self._dropped += max(0, self._waiting.qsize() - 1)
            self._admit_drops()

    def _start_over(self) -> None:
        """Also what a forked child does first: of its parent's thread, events and held locks it has none."""
        self._starting = threading.Lock()
        self._waiting: SimpleQueue[Event | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._dropped = 0

    def _post(self, event: Event) -> None:
        if self._thread is None:
            self._start()
        # Looking first and putting then may let a few too many in, and needs no lock that could be held.
        if self._waiting.qsize() < MOST_WAITING:
            self._waiting.put(event)
            return
        self._dropped += 1
        if self._dropped == 1:
            self._log(
                logging.WARNING, f"an observer blocks: {MOST_WAITING} events wait for it, more are dropped"
            )

    def _start(self) -> None:
        with self._starting:
            if self._thread is not None:
                return
            # A daemon, so that an observer that never returns cannot hold the process's exit.
            thread = threading.Thread(target=self._deliver, name="onebeat-observers", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # too many threads, or the interpreter is leaving
                self._complain(self, "no thread for the observers", error)
            else:
                self._thread = thread

    def _deliver(self) -> None:
        waiting = self._waiting
        while (event := waiting.get()) is not None:
            for observer in self._apart:
                with suppress(KeyboardInterrupt):  # no signal arrives in this thread
                    self._tell(observer, event)
            if waiting.empty():
                self._admit_drops()
        self._admit_drops()

    def _admit_drops(self) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            self._log(logging.WARNING, f"an observer was too slow: {dropped} events were dropped for it")

    def _tell(self, observer: Observer, event: Event) -> None:
        try:
            observer(event)
        except KeyboardInterrupt:
            # Not the observer's: a signal that happened to arrive here, and the scheduler waits for it.
            raise
        except BaseException as error:  # SystemExit and CancelledError would end a run just as well
            what = f"observer {_name(observer)} raised on {type(event).__name__}"
            self._complain(observer, what, error)

    def _complain(self, about: Observer, what: str, error: BaseException) -> None:
        key = id(about), type(error)
        if key not in self._complained:
            self._complained.add(key)
            self._log(logging.ERROR, f"{what}; not said again", error)

    def _log(self, level: int, message: str, error: BaseException | None = None) -> None:
        # A handler that raises is an observer that raises, and there is nobody left to tell.
        with suppress(Exception):
            self._logger.log(level, "%s", message, exc_info=error)


def _checked(observer: Observer) -> Observer:
    if not callable(observer):
        raise InvalidSetting("observers", observer, "a callable that takes an event")
    if inspect.iscoroutinefunction(observer) or inspect.iscoroutinefunction(type(observer).__call__):
        raise InvalidSetting("observers", observer, "a plain function", "nothing would await it")
    return observer


def _name(observer: Observer) -> str:
    return str(getattr(observer, "__qualname__", type(observer).__qualname__))
