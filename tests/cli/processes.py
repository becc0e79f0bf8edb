"""`onebeat` as a real process, and the processes below it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 30.0


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """`onebeat WORDS…` in *folder*, its two streams in one pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "onebeat", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder)},
    )


def children(pid: int) -> list[int]:
    """The processes that *pid* started and that still live."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    """Whether *pid* runs; one that nobody has collected yet does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def eventually(true: Callable[[], object]) -> bool:
    """Whether *true* becomes so before our patience ends."""
    latest = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > latest:
            return False
        time.sleep(0.05)
    return True
