"""A child process as its parent holds it: started, told, signalled, awaited."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

from onebeat.engine.child_words import TERMINATE, Ending, Order, cause_line
from onebeat.errors import Cancelled, ChildFailed


class ChildProcess:
    """Runs one body. `run` blocks, in a thread of its own; the rest never does, from any other thread.

    A fresh interpreter, not a fork: a copy of a process with threads inherits locks that nobody will open.
    It leads a session of its own, so that Ctrl-C reaches it through its parent alone, and that what the
    body has started is killed with it.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._lock = threading.Lock()
        self._pid: int | None = None  # while it may be signalled: until it is reaped no other has its number
        self._connection: socket.socket | None = None
        self._cause: Cancelled | None = None
        self._killed = False

    def run(self) -> Ending:
        """Start it and wait for its end. Raises ChildFailed when it ends without telling how its body did."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = _spawned(theirs.fileno())
            with suppress(OSError):  # it died at once: what it left says how
                self._began(process.pid)
                ours.sendall(self._order.line())
                self._listens(ours)
            line = _line_from(ours)
            code = self._reaped(process)
        ending = Ending.read(line)
        if ending is None:
            raise ChildFailed(_death(code))
        return ending

    def tell(self, cause: Cancelled) -> None:
        """Let the body know that it is cancelled."""
        with self._lock:
            self._cause = cause
            self._send(cause_line(cause))

    def terminate(self) -> None:
        """Have it send itself SIGTERM, for a body that does not listen: after the cause, in this order."""
        with self._lock:
            self._send(TERMINATE)

    def kill(self) -> None:
        """SIGKILL, with all that the body has started; one that is just being started, as soon as it is."""
        with self._lock:
            self._killed = True
            self._kill_group()

    def _began(self, pid: int) -> None:
        with self._lock:
            self._pid = pid
            if self._killed:
                self._kill_group()

    def _listens(self, connection: socket.socket) -> None:
        """From here on it is told at once; a cause that came before, now."""
        with self._lock:
            self._connection = connection
            if self._cause is not None:
                self._send(cause_line(self._cause))

    def _kill_group(self) -> None:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)

    def _send(self, line: bytes) -> None:
        if self._connection is not None:
            # One that does not even read its order is not waited for: it will be killed.
            with suppress(OSError):
                self._connection.send(line, socket.MSG_DONTWAIT)

    def _reaped(self, process: subprocess.Popen[bytes]) -> int:
        """Its exit code. It ends before it is reaped, and in between it ceases to be signalled."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            self._pid = self._connection = None
        return process.wait()


def _spawned(fd: int) -> subprocess.Popen[bytes]:
    """A new interpreter like this one: its flags, its warnings, its path, wherever `onebeat` came from."""
    from multiprocessing.spawn import get_executable  # not needed to import onebeat

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    code = f"import sys; sys.path[:] = {sys.path!r}; from onebeat.engine.child import main; main({fd})"
    return subprocess.Popen(
        [os.fsdecode(get_executable()), *flags, "-c", code],
        stdin=subprocess.DEVNULL,
        pass_fds=[fd],
        start_new_session=True,
    )


def _line_from(connection: socket.socket) -> bytes:
    """Until its end, or to where it breaks off."""
    line = b""
    with suppress(ConnectionError):
        while not line.endswith(b"\n") and (block := connection.recv(1 << 16)):
            line += block
    return line


def _death(code: int) -> str:
    if code >= 0:
        return f"its process ended with code {code} before its body did"
    try:
        return f"its process died by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"its process died by signal {-code}"
