"""The pytest plugin: there when it is asked for, unnoticed when it is not."""

import subprocess
import sys
from datetime import timedelta

from onebeat.model import Bid, Replica, Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock, Recorder


def test_the_fixtures_are_there_without_any_set_up(
    onebeat_clock: FakeClock, onebeat_recorder: Recorder
) -> None:
    assert isinstance(onebeat_clock, FakeClock)
    assert isinstance(onebeat_recorder, Recorder)


async def test_the_store_keeps_the_time_of_the_clock(
    onebeat_clock: FakeClock, onebeat_store: MemoryStore
) -> None:
    await onebeat_clock.advance(days=400)
    bid = Bid(Tick("report", onebeat_clock.now()), "token", None)
    replica = Replica("default", "1", "me")
    (answer,) = await onebeat_store.claim([bid], replica=replica, timeout=timedelta(seconds=1))
    assert answer.won
    assert answer.store_time == onebeat_clock.now()


def test_importing_it_brings_in_no_loop_no_driver_and_no_scheduler() -> None:
    script = """
import sys, pytest
before = set(sys.modules)
import onebeat
own = set(sys.modules)
import onebeat.testing.plugin
heavy = ("psycopg", "asyncpg", "sqlalchemy", "sqlite3", "onebeat.scheduler", "onebeat.stores", "hypothesis")
print(sorted(name for name in set(sys.modules) - own if name.startswith(heavy)))
print(sorted(set(sys.modules) - own))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy, new = told.stdout.splitlines()
    assert heavy == "[]"
    assert len(new.split(",")) < 8
