"""What every part of one replica's engine shares."""

from __future__ import annotations

import os
from dataclasses import dataclass

from onebeat.clock import Clock
from onebeat.engine.settings import Settings
from onebeat.events import Observer
from onebeat.model import Replica


@dataclass(frozen=True, slots=True)
class Here:
    """This replica: who it is, its clock, whom it tells, its settings, and the process it lives in."""

    replica: Replica
    clock: Clock
    observe: Observer
    settings: Settings
    pid: int

    @property
    def is_copy(self) -> bool:
        """Whether this process is a fork of the one the replica lives in: it must neither claim nor release,
        for the run it would speak of goes on over there (C-ID)."""
        return os.getpid() != self.pid
