"""Pings to a heartbeat monitor that speaks as healthchecks does: start, success, fail."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit, urlunsplit

from onebeat.alerts.addresses import checked_url, host_of
from onebeat.events import RunEnded, RunStarted
from onebeat.model import Outcome, checked_duration

_MOST_TEXT = 10_000


@dataclass(frozen=True, slots=True, repr=False)
class Healthchecks:
    """Pings *ping_url* when a run starts (`/start`), succeeds, and fails (`/fail`, with the error).

    The pings of one run carry its `rid`, so that overlapping runs are told apart. The monitor is the one to
    say when a run is overdue. The URL is never shown: it is a secret.
    """

    ping_url: str
    timeout: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ping_url", checked_url("ping_url", self.ping_url).rstrip("/"))
        object.__setattr__(self, "timeout", checked_duration("timeout", self.timeout).total_seconds())

    def send(self, event: RunStarted | RunEnded) -> None:
        """Ping, blocking. Raises Undelivered."""
        if isinstance(event, RunStarted):
            self._ping("/start", event.run_id)
        elif event.outcome is Outcome.RAN:
            self._ping("", event.run_id)
        else:
            error = event.error
            why = f"{type(error).__name__}: {error}" if error is not None else str(event.reason)
            self._ping("/fail", event.run_id, why)

    def _ping(self, what: str, run_id: str, text: str = "") -> None:
        from uuid import UUID

        from onebeat.alerts.http import post

        parts = urlsplit(self.ping_url)
        rid = UUID(bytes=sha256(run_id.encode()).digest()[:16])
        query = f"{parts.query}&rid={rid}" if parts.query else f"rid={rid}"
        url = urlunsplit(parts._replace(path=parts.path + what, query=query))
        body = text.encode(errors="replace")[:_MOST_TEXT]
        post(url, body, {"Content-Type": "text/plain; charset=utf-8"}, self.timeout)

    def __repr__(self) -> str:
        return f"Healthchecks({host_of(self.ping_url)})"
