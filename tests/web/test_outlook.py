"""What the calendar works out: off the loop, and not for each who looks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from onebeat.errors import ClaimFailed, InvalidSetting
from onebeat.history import MOST_ROWS, JobState, Page
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web import outlook as module
from onebeat.web.outlook import DAYS, Calendar
from onebeat.web.reading import Reader
from tests.web.fleet_rows import APP, join

START = datetime(2027, 3, 27, 6, 30, 20, tzinfo=UTC)


class Counting(MemoryStore):
    """How often its jobs were read, and an error to answer with instead."""

    reads = 0
    broken = False

    async def jobs(
        self, *, app: str, prefix: str = "", limit: int, after: str | None = None
    ) -> Page[JobState]:
        self.reads += 1
        if self.broken:
            raise ClaimFailed("gone")
        return await super().jobs(app=app, prefix=prefix, limit=limit, after=after)


@pytest.fixture
async def store() -> Counting:
    store = Counting(clock=FakeClock(START))
    await join(store, "a", {"report": "every(minutes=1)"})
    return store


async def test_the_schedules_are_followed_in_another_thread(
    store: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def watched(name: str) -> Any:
        work = getattr(module, name)

        def watch(*given: Any) -> Any:
            threads.append(threading.current_thread())
            return work(*given)

        return watch

    for name in ("load_of", "outlook_of", "minute_map_of"):
        monkeypatch.setattr(module, name, watched(name))
    calendar = Calendar(Reader(store, APP), UTC)
    found = await calendar.outlook()
    await calendar.minutes(found, START.date())
    assert len(threads) == 3
    assert threading.main_thread() not in threads


async def test_whoever_looks_within_a_minute_is_shown_the_same(store: Counting) -> None:
    calendar = Calendar(Reader(store, APP), UTC)
    found = await calendar.outlook()
    minutes = await calendar.minutes(found, START.date())
    assert await calendar.outlook() is found
    assert await calendar.minutes(found, START.date()) is minutes
    assert await calendar.past() is await calendar.past()
    assert store.reads == 1


async def test_a_store_that_does_not_answer_is_asked_again(store: Counting) -> None:
    store.broken = True
    calendar = Calendar(Reader(store, APP), UTC)
    with pytest.raises(ClaimFailed):
        await calendar.outlook()
    store.broken = False
    assert (await calendar.outlook()).ticks


async def test_it_looks_ahead_from_this_minute_on_and_no_further_than_its_days(store: Counting) -> None:
    calendar = Calendar(Reader(store, APP), UTC)
    found = await calendar.outlook()
    minutes_gone = 6 * 60 + 30
    assert found.ticks == DAYS * 1440 - minutes_gone
    assert (await calendar.minutes(found, START.date() + timedelta(days=DAYS - 1))).rows
    for day in (START.date() - timedelta(days=1), START.date() + timedelta(days=DAYS)):
        with pytest.raises(InvalidSetting, match="a day from 2027-03-27 to 2027-04-23"):
            await calendar.minutes(found, day)


async def test_all_jobs_count_however_many_pages_they_fill(store: Counting) -> None:
    await join(store, "b", {f"job {number}": "every(hours=1)" for number in range(MOST_ROWS)})
    assert (await Calendar(Reader(store, APP), UTC).outlook()).load.plan.jobs == MOST_ROWS + 1
