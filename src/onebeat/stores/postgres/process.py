"""Pools that are the app's do not survive a fork."""

from __future__ import annotations

import os

from onebeat.errors import StoreUnusable


class SameProcess:
    """Refuses a pool in a process forked from the one that has used it: the two would share its sockets."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._pid: int | None = None

    def check(self) -> None:
        """Binds the pool to the first process that uses it. Raises StoreUnusable in any other."""
        pid = os.getpid()
        self._pid = self._pid or pid
        if self._pid != pid:
            raise StoreUnusable(
                f"this process was forked after its {self._kind} was in use: open a pool in the child, "
                "or give a URL instead of a pool"
            )
