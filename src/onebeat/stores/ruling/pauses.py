"""Which pauses cover a job, and since when it is owed again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Pause(NamedTuple):
    """One pause, ongoing or over: of one job, or of all whose ids begin with a prefix."""

    scope: str
    name: str
    until: int


class Pauses:
    """The pauses of one app at one moment (F-PAUSE)."""

    def __init__(self, pauses: Iterable[Pause], *, now: int) -> None:
        self._now = now
        self._of_job: dict[str, int] = {}
        self._prefixes: list[tuple[str, int]] = []
        for scope, name, until in pauses:
            if scope == "job":
                self._of_job[name] = until
            else:
                self._prefixes.append((name, until))

    def cover(self, job_id: str) -> bool:
        """Whether the job may not be claimed now."""
        return any(until > self._now for until in self._covering(job_id))

    def ended(self, job_id: str) -> int | None:
        """When the last pause of the job ended; None if there never was one."""
        return max((until for until in self._covering(job_id) if until <= self._now), default=None)

    def _covering(self, job_id: str) -> list[int]:
        covering = [until for prefix, until in self._prefixes if job_id.startswith(prefix)]
        if job_id in self._of_job:
            covering.append(self._of_job[job_id])
        return covering
