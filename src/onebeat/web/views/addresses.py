"""Where pages are. Ids are anybody's: they stand in queries alone."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from onebeat.model import Tick


def job_path(job_id: str, **query: str | None) -> str:
    """That of a job's page; what is None is left out."""
    return _path("/job", id=job_id, **query)


def tick_path(tick: Tick) -> str:
    """That of a tick's page."""
    return _path("/tick", id=tick.job_id, at=tick.scheduled_at.isoformat().replace("+00:00", "Z"))


def trace_address(template: str | None, trace_id: str | None) -> str | None:
    """Where a trace is shown; None without one, and for what a browser might run instead of fetch."""
    if template is None or trace_id is None:
        return None
    address = template.replace("{trace_id}", quote(trace_id, safe=""))
    return address if urlsplit(address).scheme in ("http", "https") else None


def _path(page: str, **query: str | None) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{page}?{urlencode(given, quote_via=quote, safe=':')}"
