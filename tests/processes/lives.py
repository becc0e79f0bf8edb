"""Short lives of one scheduler in one process: `python -m tests.processes.lives NAME`, orders as an app's.

Each says on stdout how far it is.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from onebeat import Scheduler
from onebeat.events import Event, SchedulerStopping
from tests.processes.jobs import scheduler_on
from tests.processes.orders import Orders

orders = Orders.from_environment()


def say(what: str) -> None:
    os.write(1, f"{what}\n".encode())  # in one piece: two threads may speak at once


def say_stopping(event: Event) -> None:
    if isinstance(event, SchedulerStopping):
        say("stopping")


async def deaf() -> None:
    """A body that will not be cancelled."""
    say("deaf")
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


def stuck() -> None:
    """A body that never ends, in a thread that nothing can end."""
    say("stuck")
    threading.Event().wait()


def with_bodies_that_never_end(shutdown_timeout: float) -> None:
    scheduler = Scheduler(shutdown_timeout=shutdown_timeout, observers=[say_stopping])
    scheduler.run_once("deaf", deaf)
    scheduler.run_once("stuck", stuck)
    scheduler.run()
    say("returned")


def impatient() -> None:
    with_bodies_that_never_end(shutdown_timeout=1)


def patient() -> None:
    with_bodies_that_never_end(shutdown_timeout=3600)


def raising(error: BaseException) -> None:
    """One body raises *error* at every tick, beside the jobs that keep the ledger."""

    def raises() -> None:
        say("raising")
        raise error

    async def raises_on_the_loop() -> None:
        raises()

    scheduler = scheduler_on(orders.store, orders)
    scheduler.every(1, job_id="raises")(raises)
    scheduler.every(1, job_id="raises on the loop")(raises_on_the_loop)
    scheduler.run()
    say("returned")


def left_at_exit() -> None:
    """The program ends while its background scheduler runs a body."""
    began = threading.Event()

    async def long() -> None:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.1)
            say("tidied up")

    scheduler = Scheduler(observers=[say_stopping])
    scheduler.run_once("long", long)
    scheduler.start_background()
    began.wait()
    say("leaving")


def forked() -> None:
    """A running scheduler is copied in the midst of a run; later the copy starts one of its own."""
    scheduler = scheduler_on(orders.store, orders)
    scheduler.start_background()
    time.sleep(2.1 - time.time() % 1)
    child = os.fork()
    if child:
        say(str(child))
        sys.stdin.readline()
        os.waitpid(child, 0)
        return
    time.sleep(2)
    say(f"admitted: {scheduler.run_once('now', stuck)}")
    say(f"active: {scheduler.active}")
    background = scheduler.start_background()
    sys.stdin.readline()
    background.stop()


def with_children() -> None:
    """At every tick one body forks a child of its own from the loop, and one from a thread."""
    fork = multiprocessing.get_context("fork")

    def from_a_thread() -> None:
        child = fork.Process(target=time.sleep, args=(1.2,))
        child.start()

    async def from_the_loop() -> None:
        from_a_thread()

    scheduler = scheduler_on(orders.store, orders)
    scheduler.every(1, job_id="from the loop")(from_the_loop)
    scheduler.every(1, job_id="from a thread")(from_a_thread)
    scheduler.run()


LIVES: dict[str, Callable[[], None]] = {
    "impatient": impatient,
    "patient": patient,
    "raises SystemExit": lambda: raising(SystemExit(7)),
    "raises KeyboardInterrupt": lambda: raising(KeyboardInterrupt()),
    "left at exit": left_at_exit,
    "forked": forked,
    "with children": with_children,
}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    LIVES[sys.argv[1]]()
