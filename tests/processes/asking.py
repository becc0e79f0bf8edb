"""What is asked of a fleet from the tests' own process, which has nothing of it but the store's URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from onebeat import Tick
from onebeat.connect import connect
from onebeat.control import Target

APP = "default"
BY = "ada@desk"
REASON = "to see"
_ASK = {"app": APP, "by": BY, "reason": REASON}


def asked(store_url: str, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """What *ask* gets from the store."""

    async def asking() -> Any:
        store: Any = connect(store_url)
        try:
            return await ask(store)
        finally:
            await store.close()

    return asyncio.run(asking())


def wait_until_known(store_url: str, job_id: str) -> None:
    """Until a replica has registered the job, a moment after its start, and hears what is asked."""
    deadline = time.monotonic() + 30
    while asked(store_url, lambda store: store.job(job_id, app=APP)) is None:
        assert time.monotonic() < deadline, f"nobody has registered {job_id}"
        time.sleep(0.1)
    time.sleep(1)


def pause(store_url: str, target: Target) -> None:
    asked(store_url, lambda store: store.pause(target, until=None, **_ASK))


def resume(store_url: str, target: Target) -> bool:
    """Whether it was paused."""
    was_paused: bool = asked(store_url, lambda store: store.resume(target, **_ASK))
    return was_paused


def trigger(store_url: str, job_id: str) -> Tick:
    """The tick that will tell."""
    tick: Tick = asked(store_url, lambda store: store.trigger(job_id, force=False, **_ASK))
    return tick


def cancel(store_url: str, job_id: str) -> list[Tick]:
    """The ticks whose runs are to be cancelled."""
    return list(asked(store_url, lambda store: store.cancel(job_id, scheduled_at=None, **_ASK)))
