"""Find, start and stop the servers that tests need; never skip for want of them."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

READY_WITHIN = 30.0


class Missing(RuntimeError):
    """A program the tests need is not on this machine; the message says how to get it."""


def found(name: str, folders: Sequence[str | Path], advice: str) -> str:
    """The path of program *name*, from the search path or else the first of *folders* that has it."""
    for folder in (None, *folders):
        path = shutil.which(name, path=folder and str(folder))
        if path:
            return path
    raise Missing(f"{name} was not found, and these tests do not skip: {advice}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ordinary_user() -> str | None:
    """Whom a server runs as: these servers refuse root. None when the tests are an ordinary user's."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def own_folder(prefix: str) -> Path:
    """A temporary folder that belongs to the user the server runs as."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    user = ordinary_user()
    if user is not None:
        shutil.chown(folder, user)
    return folder


def run(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> None:
    """Run *command* to its end as the ordinary user; its output is the error when it fails."""
    done = subprocess.run(
        command,
        user=ordinary_user(),
        cwd="/",
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}")


class Program:
    """A server in the background, with its log in *folder*."""

    def __init__(self, command: Sequence[str | Path], folder: Path) -> None:
        self._log = folder / "log.txt"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                user=ordinary_user(),
                cwd="/",
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop(signal.SIGKILL)
                raise RuntimeError(f"the server did not come up:\n{self._log.read_text(errors='replace')}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.wait(READY_WITHIN)
