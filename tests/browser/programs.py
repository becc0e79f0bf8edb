"""Replicas and the dashboard's server, as processes below this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.servers.programs import READY_WITHIN, free_port

ROOT = Path(__file__).parents[2]
TOKEN = "a token that nobody guesses"


class Replicas:
    """Of the jobs of these tests, on the database at *dsn*. On leaving, all are killed."""

    def __init__(self, dsn: str, *labels: str) -> None:
        self._dsn = dsn
        self._labels = labels
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        """Return when the schedulers of all have started."""
        for label in self._labels:
            command = [sys.executable, "-m", "tests.browser.replica", self._dsn, label]
            self._processes[label] = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        for label, process in self._processes.items():
            assert process.stdout is not None  # opened as a pipe
            assert process.stdout.readline() == b"ready\n", f"{label} did not start"
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.kill()
            process.communicate()

    def kill(self, label: str) -> None:
        self._processes[label].kill()


class Server:
    """uvicorn with the dashboard over *dsn*, as a deployment has it; TOKEN lets people act."""

    def __init__(self, dsn: str, folder: Path, app: str) -> None:
        self._port = free_port()
        self._log = folder / "dashboard.log"
        self._environment = {
            **os.environ,
            "DASHBOARD_DSN": dsn,
            "DASHBOARD_APP": app,
            "DASHBOARD_TOKEN": TOKEN,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "uvicorn", "--factory", "tests.browser.served:made"]
        options = ["--port", str(self._port), "--log-level", "warning"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *options],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_it_answers()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self, patience: float) -> int:
        """In order; its exit code. subprocess.TimeoutExpired when it does not end within *patience* s."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(patience)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not self._answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def _answers(self) -> bool:
        with suppress(urllib.error.HTTPError), suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(f"{self.url}/static/onebeat.css", timeout=5).close()
            return True
        return False
