"""For tests of programs that use onebeat, and of stores written elsewhere."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onebeat.testing.clock import FakeClock
    from onebeat.testing.recorder import Recorder

_HOMES = {
    "FakeClock": "onebeat.testing.clock",
    "Recorder": "onebeat.testing.recorder",
}

__all__ = ["FakeClock", "Recorder"]


def __getattr__(name: str) -> object:
    # On first use: pytest imports this package in every run of everyone who has onebeat installed.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
