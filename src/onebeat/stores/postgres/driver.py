"""What the store asks of a driver, and how a statement in flight is given up."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Loan(Protocol):
    """A connection lent to a body, in a transaction from `begin` to `commit`."""

    @property
    def connection(self) -> Any:
        """What the body works on: its own kind of connection, which it can neither commit nor roll back."""

    def begin(self, sql: str, *texts: str) -> Awaitable[str | None]:
        """Begin with *sql*; the first column of its first row."""

    def commit(self, sql: str) -> Awaitable[None]:
        """Send *sql*, which ends with COMMIT, in one message, unless the body left the transaction."""

    def undo(self) -> Awaitable[None]:
        """Roll back what is open; a connection that fails even in that is closed."""

    def give_back(self) -> Awaitable[None]:
        """To where it came from, as it was."""

    def cut(self) -> None:
        """Break it, from any thread."""


class Ear(Protocol):
    """A connection that hears what is notified on a channel."""

    async def heard(self) -> str:
        """What was notified next, since the last time or from now on; the same several times may be one."""

    async def close(self) -> None:
        """Stop listening."""


class Driver(Protocol):
    """One small method of a DSN, a pool or an engine; an adapter a kind."""

    label: str
    loop_bound: str | None
    kind: str
    lends_to: tuple[bool, ...]
    """To whose bodies it lends connections: True to an `async def`, False to a plain one."""
    errors: tuple[type[Exception], ...]
    """What the driver raises when a statement fails; with `sqlstate` where the server answered."""

    async def fetch(self, sql: str, *texts: str, wait: float) -> str | None:
        """The first column of the first row of *sql*; None without a row.

        One autocommit statement on a connection of its own, never in an open transaction, and nothing
        prepared stays behind. Waits up to *wait* seconds for a connection. Cancelled in the middle of
        the statement, it gives the connection up and returns at once; the statement may have landed.
        """

    async def lend(self, *, to_async: bool, wait: float) -> Loan:
        """A connection of the kind that such a body can use, within *wait* seconds once there is room."""

    async def listen(self, channel: str) -> Ear | None:
        """A connection of its own, on this loop, that hears *channel*; None where that cannot be had."""

    async def close(self) -> None:
        """Close what the adapter opened itself."""


def label_of(host: object, port: object, database: object) -> str:
    """postgresql://host:port/database, with what is not known left out; never a password."""
    place = f"{host or ''}:{port}" if port else f"{host or ''}"
    return f"postgresql://{place}/{database or ''}"


class Hold:
    """The connection a statement is using, so that whoever waits for it can cut it off, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cut: Callable[[], object] | None = None
        self._begun = False
        self._given_up = False

    def take(self, cut: Callable[[], object]) -> bool:
        """Whether to go on with the statement; *cut* breaks its connection. False once given up."""
        with self._lock:
            self._begun = True
            self._cut = None if self._given_up else cut
            return not self._given_up

    def let_go(self) -> None:
        """The statement is over: its connection must not be cut any more."""
        with self._lock:
            self._cut = None

    def give_up(self) -> bool:
        """Cut the connection, if there is one; whether the statement had not even begun."""
        with self._lock:
            self._given_up = True
            if self._cut is not None:
                self._cut()
            return not self._begun


async def unless_cancelled(work: asyncio.Future[T], hold: Hold) -> T:
    """The outcome of *work*; cancelled, the connection it holds is cut, and *work* ends by itself."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if hold.give_up():
            work.cancel()
        work.add_done_callback(_seen)
        raise


def in_thread(call: Callable[[], T]) -> asyncio.Future[T]:
    """*call* in a daemon thread of its own: a stuck one must not keep the interpreter from exiting."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[], object]) -> None:
        # A closed loop has nobody left to tell.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: future.done() or settle())

    def run() -> None:
        try:
            result = call()
        except BaseException as error:
            failure = error
            tell(lambda: future.set_exception(failure))
        else:
            tell(lambda: future.set_result(result))

    threading.Thread(target=run, name="onebeat-statement", daemon=True).start()
    return future


def sever(fileno: int) -> None:
    """End the connection behind *fileno* for whoever waits on it, in this thread or another.

    Not closed here: the descriptor stays its owner's, so no other can get its number meanwhile.
    """
    with suppress(OSError), socket.socket(fileno=os.dup(fileno)) as same:
        same.shutdown(socket.SHUT_RDWR)


def _seen(work: asyncio.Future[T]) -> None:
    """Take note of a failure that nobody waits for any more."""
    if not work.cancelled():
        work.exception()
