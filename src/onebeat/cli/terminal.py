"""What stands at the other end of stdout, and how instants are written to it."""

from __future__ import annotations

import sys
from datetime import datetime, tzinfo


def on_terminal() -> bool:
    """Whether a person reads along; not where stdout was closed before the start."""
    return sys.stdout is not None and sys.stdout.isatty()


def written_in(zone: tzinfo, instant: datetime) -> datetime:
    """*instant* by the clocks of *zone*, or in UTC where these have left the years 1 to 9999."""
    try:
        return instant.astimezone(zone)
    except OverflowError:
        return instant
