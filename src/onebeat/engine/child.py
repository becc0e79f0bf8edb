"""In a child process: one body is run for the parent, which is told how it ended.

Imported by the child alone. The socket to the parent is its lifeline: once that closes nobody waits for
this body any more, and it must not go on beside the run that takes its place.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from types import FrameType
from typing import BinaryIO

from onebeat.clock import SystemClock
from onebeat.engine.body import Body
from onebeat.engine.child_words import TERMINATE, Ending, Order, read_cause
from onebeat.engine.run import Run
from onebeat.engine.target import Target

_PR_SET_PDEATHSIG = 1


def main(fd: int) -> None:
    """Run what is ordered over *fd*. Returns when the body has ended: the interpreter then ends in order."""
    connection = socket.socket(fileno=fd)
    connection.set_inheritable(False)
    _die_with_parent()
    stream = connection.makefile("rb")
    line = stream.readline()
    if not line:
        _end_all()
    order = Order.read(line)
    run = order.run()
    terminated = _Terminated(run)
    os.register_at_fork(after_in_child=lambda: _forget(connection))
    threading.Thread(
        target=_listen, args=(stream, run, terminated), name="onebeat-lifeline", daemon=True
    ).start()
    ending = Ending.of(_performed(order, run, terminated))
    with suppress(OSError):  # a parent that has gone is noticed by the lifeline
        connection.sendall(ending.line())


class _Terminated:
    """SIGTERM on the parent's order: the body has been told and goes on all the same. A plain one has its
    cause raised wherever it is; an `async def` has had its CancelledError and may still be tidying up.

    From anybody else it means nothing: who stops a whole group of processes has asked the parent as well.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._pid = os.getpid()
        self._ordered = False
        self.in_plain_body = False
        signal.signal(signal.SIGTERM, self)

    def order(self) -> None:
        """From the lifeline's thread: a signal to the main one interrupts whatever that waits for."""
        self._ordered = True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # in a copy that the body has forked it means what it always means
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif self.in_plain_body and self._ordered and self._run.cause is not None:
            self.in_plain_body = False  # once: what it does in its `finally` goes on
            raise self._run.cause


def _performed(order: Order, run: Run, terminated: _Terminated) -> BaseException | None:
    """What the body raised, or what kept it from being found."""
    if order.lease_left is not None:
        run.begin_lease(timedelta(seconds=order.lease_left), SystemClock().monotonic)
    try:
        body = Body.of(Target(order.module, order.name).found())
        run.enter()
        if body.is_async:
            asyncio.run(_on_loop(body, run))
        else:
            terminated.in_plain_body = True
            body.call_plain(run)
    except asyncio.CancelledError as error:
        # Where the body was when it was told, is what somebody will want to know.
        return error if run.cause is None else run.cause.with_traceback(error.__traceback__)
    except BaseException as error:
        return error
    finally:
        terminated.in_plain_body = False
    return None


async def _on_loop(body: Body, run: Run) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # narrows the type: a coroutine always runs in a task
    run.when_cancelled(lambda: loop.call_soon_threadsafe(task.cancel))
    try:
        run.raise_if_cancelled()
        await body.call_async(run)
    finally:
        run.when_cancelled(None)


def _listen(stream: BinaryIO, run: Run, terminated: _Terminated) -> None:
    with suppress(OSError):
        while line := stream.readline():
            if line == TERMINATE:
                terminated.order()
                continue
            with suppress(RuntimeError):  # the body's loop has just been closed
                run.cancel(read_cause(line))
    _end_all()


def _die_with_parent() -> None:
    """Have the kernel see to it, where it can: a body deep in foreign code lets no thread run."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_all() -> None:
    os.killpg(0, signal.SIGKILL)  # with whatever the body has started: this child leads its group


def _forget(connection: socket.socket) -> None:
    """In a copy that the body has forked: the lifeline is not its own."""
    fd = connection.detach()
    if fd >= 0:
        os.close(fd)
