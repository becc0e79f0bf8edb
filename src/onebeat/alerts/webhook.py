"""Alerts as JSON, posted to a URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onebeat.alerts.addresses import checked_headers, checked_url, host_of
from onebeat.alerts.alert import Alert
from onebeat.model import checked_duration


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Webhook:
    """Posts each alert to *url* as JSON; any answer of 2xx will do, a redirect is none.

    What does not arrive within *timeout* seconds is tried again, five times in all, over some minutes.
    Neither the URL nor the headers are ever shown: they may hold secrets.
    """

    url: str
    headers: tuple[tuple[str, str], ...]
    timeout: float = field(default=10.0)

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> None:
        object.__setattr__(self, "url", checked_url("url", url))
        object.__setattr__(self, "headers", checked_headers({} if headers is None else headers))
        object.__setattr__(self, "timeout", checked_duration("timeout", timeout).total_seconds())

    def send(self, alert: Alert) -> None:
        """Deliver *alert*, blocking. Raises Undelivered."""
        import json

        from onebeat.alerts.http import post

        body = json.dumps(alert.as_json()).encode()
        post(self.url, body, {"Content-Type": "application/json", **dict(self.headers)}, self.timeout)

    def __repr__(self) -> str:
        return f"Webhook({host_of(self.url)})"
