"""A fleet written into a store through its own methods, by a clock that stands still."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx

from onebeat.fleet import Facts, Registration
from onebeat.model import Bid, Record, Release, Replica, Tick, Verdict
from onebeat.web import dashboard

# Markup, quotes, an entity, and a sign that turns the direction of text.
HOSTILE = "<script>alert('1')</script>\" onload=\"x&amp; ‮ 日本"
HOSTILE_AS_SHOWN = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&#34; onload=&#34;x&amp;amp; \\u202e 日本"
APP = "shop"


def visitor(store: object, **settings: Any) -> httpx.AsyncClient:
    """Asks the dashboard over *store*."""
    app = dashboard(store, app=APP, **settings)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://dashboard")


def known(label: str) -> Replica:
    return Replica(APP, f"id-of-{label}", label)


async def join(store: Any, label: str, jobs: Mapping[str, str], *, version: str = "0.1.0") -> None:
    """A replica that has these jobs: their schedules' texts by id."""
    await store.join(
        [Registration(job_id, schedule, schedule) for job_id, schedule in jobs.items()],
        replica=known(label),
        facts=Facts(version, "2026a", 4711),
        now=await store.store_time(),
    )


async def run(
    store: Any,
    label: str,
    tick: Tick,
    verdict: Verdict | None,
    *,
    error: str | None = None,
    lease: timedelta | None = timedelta(hours=1),
) -> None:
    """*label* claims *tick*, and with a verdict releases it."""
    bid = Bid(tick, f"token of {tick}"[:200], lease)
    [answer] = await store.claim([bid], replica=known(label), timeout=timedelta(seconds=10))
    assert answer.won, answer
    if verdict is not None:
        now = await store.store_time()
        release = Release(tick, bid.token, verdict, now, now, error=error)
        await store.release([release], replica=known(label))


async def tell(store: Any, label: str, *records: Record) -> None:
    await store.record(records, replica=known(label))
