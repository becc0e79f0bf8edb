"""Bodies that child processes import. What they see, they write into the file that their job's id names."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from onebeat import Run, current_run

memory: list[int] = []
IN_PATH = sys.path[0]


def told(run: Run, *words: Any) -> None:
    """One line, in one piece."""
    with Path(run.job_id).open("a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def facts(run: Run) -> None:
    assert current_run() is run
    told(run, os.getpid(), run.scheduled_at, run.attempt, run.fence, run.replica, run.lateness, run.trace_id)


async def facts_on_a_loop(run: Run) -> None:
    await asyncio.sleep(0)
    facts(run)


def surroundings(run: Run) -> None:
    warned = [filter_ for filter_ in warnings.filters if filter_[2] is ResourceWarning]
    told(run, os.environ["ONEBEAT_TEST_WORD"], Path.cwd(), bool(warned), sys.flags.dev_mode)


def remembers() -> None:
    memory.append(1)
    told(current_run(), len(memory))


def raises() -> None:
    raise ValueError("no such file")


async def raises_on_a_loop() -> None:
    raise ValueError("no such file")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


def raises_unprintable() -> None:
    raise Unprintable


def exits() -> None:
    raise SystemExit(3)


def leaves() -> None:
    os._exit(7)


def crashes() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def returns_a_generator() -> Any:
    return (number for number in range(3))


def listens(run: Run) -> None:
    told(run, "began")
    run.wait(60)
    told(run, "cause", type(run.cause).__name__)
    run.raise_if_cancelled()


async def listens_on_a_loop(run: Run) -> None:
    told(run, "began")
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        told(run, "cause", type(run.cause).__name__)


def sleeps(run: Run) -> None:
    """Hears nothing, but lets itself be interrupted."""
    told(run, "began", os.getpid())
    try:
        time.sleep(60)
    finally:
        told(run, "tidied up")


def deaf(run: Run) -> None:
    """Ignores everything that can be ignored, and has started a process that does so too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    told(run, os.getpid(), other.pid)
    while True:
        with suppress(BaseException):
            time.sleep(60)


async def deaf_on_a_loop(run: Run) -> None:
    told(run, os.getpid())
    while True:
        with suppress(BaseException):
            await asyncio.sleep(60)


def checks(run: Run) -> None:
    time.sleep(0.2)
    run.check()


def forks(run: Run) -> None:
    """Leaves a fork behind that outlives it, and ends one of its own by SIGTERM."""
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    fork = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    fork.start()
    time.sleep(0.2)  # Python itself loses a signal that comes while it forks
    fork.terminate()
    fork.join(10)
    told(run, "ended by", fork.exitcode)


def starts_threads(run: Run) -> None:
    """What it leaves to a thread belongs to it."""
    threading.Timer(0.3, told, (run, "done")).start()


class Report:
    @classmethod
    def build(cls, run: Run) -> None:
        told(run, cls.__name__)

    def of_one(self) -> None: ...


class Monthly(Report): ...
