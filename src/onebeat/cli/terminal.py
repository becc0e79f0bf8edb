"""What stands at the other end of stdout."""

from __future__ import annotations

import sys


def on_terminal() -> bool:
    """Whether a person reads along; not where stdout was closed before the start."""
    return sys.stdout is not None and sys.stdout.isatty()
