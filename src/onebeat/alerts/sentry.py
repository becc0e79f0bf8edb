"""Check-ins to a cron monitor of Sentry, through its own library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

from onebeat.errors import InvalidSetting
from onebeat.events import RunEnded, RunStarted
from onebeat.model import Outcome


@dataclass(frozen=True, slots=True)
class Sentry:
    """Checks in with the monitor *monitor_slug* as a run of the job starts and ends.

    Through the client that the program has set up with `sentry_sdk.init`, which sends from a thread of its
    own. *monitor_config* creates or updates the monitor, as that library describes it.
    """

    monitor_slug: str
    monitor_config: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.monitor_slug, str) or not self.monitor_slug:
            raise InvalidSetting("monitor_slug", self.monitor_slug, "the slug of a monitor")
        try:
            import sentry_sdk.crons  # noqa: F401 - said now, not at the first run
        except ImportError:
            raise InvalidSetting(
                "to", self, "an installation of sentry-sdk", "pip install onebeat[sentry]"
            ) from None

    def send(self, event: RunStarted | RunEnded) -> None:
        """Hand the check-in to the client."""
        from sentry_sdk.crons import capture_checkin

        started = isinstance(event, RunStarted)
        status = "in_progress"
        if isinstance(event, RunEnded):
            status = "ok" if event.outcome is Outcome.RAN else "error"
        capture_checkin(
            monitor_slug=self.monitor_slug,
            check_in_id=sha256(event.run_id.encode()).hexdigest()[:32],
            status=status,
            duration=None if isinstance(event, RunStarted) else event.duration,
            monitor_config=cast(Any, self.monitor_config) if started else None,
        )
