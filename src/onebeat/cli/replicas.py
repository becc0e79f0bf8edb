"""Replicas as child processes of this one: started, listened to, stopped, and never left behind.

A child's stdin is its lifeline. Nothing is ever written to it; it closes when the parent ends, however
the parent ends, and then the child stops. Children stand in sessions of their own, so that Ctrl-C at a
terminal reaches them once, through the parent: a second signal would tell them to stop waiting.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

_LONGEST_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class Child:
    """One replica process and the label it goes by."""

    label: str
    process: Process

    async def lines(self) -> AsyncIterator[str]:
        """What it prints, stdout and stderr alike, line by line until it ends."""
        assert self.process.stdout is not None  # opened as a pipe by start_child
        rest = b""
        while block := await self.process.stdout.read(_LONGEST_LINE):
            *whole, rest = (rest + block).split(b"\n")
            if len(rest) > _LONGEST_LINE:
                whole, rest = [*whole, rest], b""
            for line in whole:
                yield line.decode(errors="replace").rstrip("\r")
        if rest:
            yield rest.decode(errors="replace")

    def send(self, number: int) -> None:
        """Signal it, if it still lives."""
        if self.process.returncode is None:
            self.process.send_signal(number)


async def start_child(label: str, arguments: Sequence[str]) -> Child:
    """Start `python *arguments*` as a replica named *label*."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "ONEBEAT_REPLICA": label},
        start_new_session=True,
    )
    return Child(label, process)


async def end_children(children: Sequence[Child], patience: float) -> None:
    """Stop those that still live: in order, then after *patience* seconds by force."""
    for child in children:
        child.send(signal.SIGTERM)
    waits = [asyncio.ensure_future(child.process.wait()) for child in children]
    if waits:
        await asyncio.wait(waits, timeout=patience)
    for child in children:
        if child.process.returncode is None:
            child.process.kill()
            await child.process.wait()


def stop_with_parent(patience: float | None = None) -> None:
    """In a child: once the lifeline closes, stop as on SIGTERM; after *patience* seconds leave at once."""
    threading.Thread(target=_watch, args=(patience,), name="onebeat-lifeline", daemon=True).start()


def _watch(patience: float | None) -> None:
    # Not sys.stdin: a thread that holds its lock would stop the interpreter from ending.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    if patience is not None:
        threading.Event().wait(patience)
        os._exit(1)
