"""What the tests of alarms start from: a server that listens, and a fleet on one clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from onebeat import Alert


@dataclass(frozen=True)
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Site:
    """A web server: notes what is asked of it, and answers with each of `answers` once, then with 200."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


@contextmanager
def site() -> Iterator[Site]:
    """A real one, on this machine."""
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found.requests.append(Request("POST", self.path, dict(self.headers), body))
            self.send_response(found.answers.pop(0) if found.answers else 200)
            self.send_header("Location", f"{found.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            found.requests.append(Request("GET", self.path, dict(self.headers), b""))
            self.send_error(405)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until_sent() -> None:
    """Until the threads that were told to end have sent what they had."""
    for name in ("onebeat-observers", "onebeat-alerts"):
        for thread in threading.enumerate():
            if thread.name == name:
                thread.join(30)


class Pager:
    """Somebody who is told on the loop."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []

    async def __call__(self, alert: Alert) -> None:
        self.alerts.append(alert)

    @property
    def heard(self) -> list[tuple[str, bool]]:
        return [(alert.condition.value, alert.sounding) for alert in self.alerts]
