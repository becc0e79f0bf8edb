"""The dashboard under the servers that people run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.processes.fleet import PATIENCE, ROOT
from tests.servers.programs import free_port

TOKEN = "a token that nobody guesses"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}"


@contextmanager
def serving(store: str, port: int, command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m *command*`, once it answers."""
    environment = {**os.environ, "ONEBEAT_UI_TOKEN": TOKEN, "DASHBOARD_STORE": store}
    with log.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=told, stderr=told,
            start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/", timeout=PATIENCE)
                break
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def form_secret(page: str) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', page)
    assert found is not None
    return found[1]


def test_onebeat_ui_ends_in_order_while_a_page_is_open(store: str, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    address = f"http://127.0.0.1:{port}"
    command = ["onebeat", "ui", store, "--port", str(port)]
    with serving(store, port, command, log) as process:
        known = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx.post(f"{address}/act/pause", data={"all": "yes", "reason": "why"}, headers=known)
        assert answer.status_code == 303
        assert "why" in httpx.get(f"{address}/audit").text
        with httpx.stream("GET", f"{address}/live/overview", timeout=PATIENCE) as page:
            assert next(page.iter_lines()) == "retry: 3000"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) in (0, -signal.SIGTERM)
    assert log.read_text() == f"the dashboard is at {address}/\n"


def test_workers_forked_by_gunicorn_read_each_others_sessions_and_forms(store: str, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    address = f"http://127.0.0.1:{port}/ops"
    place = ["--bind", f"127.0.0.1:{port}", "--workers", "3", "--preload"]
    command = ["gunicorn", *place, "tests.processes.apps.flask_dashboard:app"]
    with serving(store, port, command, log), httpx.Client(timeout=PATIENCE) as ada:
        answer = ada.post(f"{address}/login", data={"name": "ada", "token": TOKEN})
        assert answer.headers["location"] == "/ops/?said=signed-in", log.read_text()
        csrf = form_secret(ada.get(f"{address}/").text)
        told = [
            ada.post(
                f"{address}/act/pause",
                data={"csrf": csrf, "all": "yes", "reason": f"reason {number}"},
                headers={"Connection": "close"},
            ).status_code
            for number in range(12)
        ]
        assert told == [303] * 12, log.read_text()
        assert ada.get(f"{address}/audit").text.count("<bdi>ada</bdi>") >= 12
    assert "Traceback" not in log.read_text()
