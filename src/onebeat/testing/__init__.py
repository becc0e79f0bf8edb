"""For tests of programs that use onebeat, and of stores written elsewhere."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onebeat.testing.clock import FakeClock
    from onebeat.testing.contract import ClaimStoreContract
    from onebeat.testing.faults import CALM, SKEWED, STORMY, Faults
    from onebeat.testing.fleet import Fleet
    from onebeat.testing.invariants import check, violations
    from onebeat.testing.recorder import Recorder
    from onebeat.testing.story import SimulatedJob, Story

__all__ = [
    "CALM",
    "SKEWED",
    "STORMY",
    "ClaimStoreContract",
    "FakeClock",
    "Faults",
    "Fleet",
    "Recorder",
    "SimulatedJob",
    "Story",
    "check",
    "violations",
]

_HOMES = {
    "CALM": "faults",
    "SKEWED": "faults",
    "STORMY": "faults",
    "ClaimStoreContract": "contract",
    "FakeClock": "clock",
    "Faults": "faults",
    "Fleet": "fleet",
    "Recorder": "recorder",
    "SimulatedJob": "story",
    "Story": "story",
    "check": "invariants",
    "violations": "invariants",
}


def __getattr__(name: str) -> object:
    # On first use: pytest imports this package in every run of everyone who has onebeat installed.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
