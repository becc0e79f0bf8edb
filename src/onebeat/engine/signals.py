"""SIGINT and SIGTERM while a scheduler runs in the main thread."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_stop_signals(call: Callable[[signal.Signals], object]) -> Iterator[None]:
    """Have *call* called with each signal, on the running loop; the earlier handlers come back at the end.

    Outside the main thread Python allows no handlers: there it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    earlier = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in STOP_SIGNALS:
        # Not the loop's add_signal_handler: it forgets the handler that was there before.
        signal.signal(number, lambda got, _: loop.call_soon_threadsafe(call, signal.Signals(got)))
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
