"""Which pause covered a tick."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from onebeat.control import Target
from onebeat.history import AuditRecord
from onebeat.insight.pauses import pause_at
from onebeat.model import Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from tests.rows import HOUR, NOON

APP = "default"


@pytest.mark.parametrize(
    "target", [Target(job_id="mail.daily"), Target(prefix="mail."), Target.app()], ids=str
)
async def test_the_pause_over_an_instant_is_found_in_the_audit(target: Target) -> None:
    """F-PAUSE: of each target the newest request before the instant holds, and until its end."""
    clock = FakeClock(NOON)
    store: Any = MemoryStore(clock=clock)

    async def over(hours: float) -> AuditRecord | None:
        return await pause_at(store, Tick("mail.daily", NOON + hours * HOUR), APP)

    async def pause(which: Target, until: datetime | None, by: str) -> None:
        await store.pause(which, app=APP, by=by, reason="stocktaking", until=until)

    await clock.jump(hours=1)
    await pause(target, NOON + 3 * HOUR, "ada")
    await pause(Target(prefix="mails"), None, "nobody asks about")
    await pause(Target(job_id="mail"), None, "nobody asks about")
    await clock.jump(hours=1)
    assert [row and row.by for row in [await over(h) for h in (0.5, 1, 2.9, 3)]] == [None, "ada", "ada", None]
    await pause(target, None, "bob")
    await clock.jump(hours=3)
    await store.cancel("mail.daily", app=APP, by="eve", reason="too slow", scheduled_at=None)
    await store.resume(target, app=APP, by="bob", reason="done")
    rows = [await over(h) for h in (1.5, 2, 4.9, 5, 6)]
    assert [row and row.by for row in rows] == ["ada", "bob", "bob", None, None]


async def test_a_pause_of_the_app_is_found_behind_an_ended_one_of_the_job() -> None:
    """F-PAUSE: each target counts for itself."""
    clock = FakeClock(NOON)
    store: Any = MemoryStore(clock=clock)
    await store.pause(Target.app(), app=APP, by="ada", reason="all", until=None)
    await clock.jump(hours=1)
    await store.pause(Target(job_id="report"), app=APP, by="bob", reason="one", until=None)
    await store.resume(Target(job_id="report"), app=APP, by="bob", reason="one")
    await clock.jump(hours=1)
    found = await pause_at(store, Tick("report", clock.now()), APP)
    assert found is not None
    assert found.by == "ada"
