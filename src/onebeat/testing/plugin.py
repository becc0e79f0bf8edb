"""The pytest plugin: fixtures for programs that use onebeat.

pytest imports this file in every run where onebeat is installed: each fixture imports what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from onebeat.stores.memory import MemoryStore
    from onebeat.testing.clock import FakeClock
    from onebeat.testing.recorder import Recorder


@pytest.fixture
def onebeat_clock() -> FakeClock:
    """A clock that stands still until the test advances it: `Scheduler(clock=onebeat_clock)`."""
    from onebeat.testing.clock import FakeClock

    return FakeClock()


@pytest.fixture
def onebeat_recorder() -> Recorder:
    """An observer that keeps every event: `Scheduler(observers=[onebeat_recorder])`."""
    from onebeat.testing.recorder import Recorder

    return Recorder()


@pytest.fixture
def onebeat_store(onebeat_clock: FakeClock) -> MemoryStore:
    """A store of claims in memory, on the test's clock: `Scheduler(onebeat_store, clock=onebeat_clock)`."""
    from onebeat.stores.memory import MemoryStore

    return MemoryStore(clock=onebeat_clock)
