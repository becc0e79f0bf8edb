"""What every part of one replica's engine shares."""

from __future__ import annotations

from dataclasses import dataclass

from onebeat.clock import Clock
from onebeat.engine.settings import Settings
from onebeat.events import Observer
from onebeat.model import Replica


@dataclass(frozen=True, slots=True)
class Here:
    """This replica: who it is, its clock, whom it tells, and its settings."""

    replica: Replica
    clock: Clock
    observe: Observer
    settings: Settings
