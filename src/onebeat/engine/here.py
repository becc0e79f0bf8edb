"""What every part of one replica's engine shares."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from onebeat.clock import Clock
from onebeat.engine.settings import Settings
from onebeat.events import Observer
from onebeat.model import Replica


def _random_identity() -> str:
    return os.urandom(16).hex()


identities: ContextVar[Callable[[], str]] = ContextVar("onebeat_identities", default=_random_identity)
"""Makes the identities of replicas: random (C-ID). A simulated fleet sets names that its seed tells again."""


@dataclass(slots=True, eq=False)
class Here:
    """This replica: who it is, its clock, whom it tells, its settings, and the process it lives in.

    Who it is may change: once declared dead, an identity is never used again (F-JUDGE).
    """

    replica: Replica
    clock: Clock
    observe: Observer
    settings: Settings
    pid: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_id(self) -> str:
        """An id no other replica makes: this replica's own random one, and a number behind it."""
        return f"{self.replica.id}-{next(self._numbers):x}"

    def renew(self) -> Replica:
        """Go on under a new identity; the one given up."""
        former = self.replica
        self.replica = replace(former, id=identities.get()())
        return former

    def made(self, new_id: str) -> bool:
        """Whether this id is of the identity that is in use."""
        return new_id.startswith(f"{self.replica.id}-")

    @property
    def is_copy(self) -> bool:
        """Whether this process is a fork of the one the replica lives in: it must neither claim nor release,
        for the run it would speak of goes on over there (C-ID)."""
        return os.getpid() != self.pid
