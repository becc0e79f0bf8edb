"""A web server with its workers, run as people run it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from tests.processes.fleet import PATIENCE, ROOT, Story, wait_for, wait_for_a_pause
from tests.processes.orders import Orders
from tests.processes.records import Kind, Note


class WebServer:
    """`python -m *command*`, whose apps have *orders*. On leaving, all that still runs of it is killed."""

    def __init__(self, command: Sequence[str], orders: Orders) -> None:
        self._command = [sys.executable, "-m", *command]
        self._orders = orders

    def __enter__(self) -> Self:
        with self._orders.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._orders.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def wait_until_ready(self, count: int) -> list[Note]:
        """Return when *count* schedulers have started, ever since the server was."""

        def all_ready() -> list[Note]:
            ready = self.ready()
            return ready if len(ready) >= count else []

        return wait_for(all_ready, f"{count} schedulers to be ready", self.log)

    def ready(self) -> list[Note]:
        return [note for note in Story.of(self._orders).notes if note.kind is Kind.READY]

    def stop(self) -> Story:
        """As a process supervisor does it, between two ticks: SIGTERM to the one process it knows of."""
        wait_for_a_pause()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(PATIENCE)
        return Story.of(self._orders)

    def log(self) -> str:
        return self._orders.log.read_text()
