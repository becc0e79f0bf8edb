"""What the doctor finds where he is sent: the store, as far as it can be asked, then its fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from onebeat.doctor import (
    Finding,
    diagnose_fleet,
    diagnose_postgres,
    diagnose_sqlite,
    is_askable,
    is_file_askable,
)


async def examined(store: Any, app: str, *, here: datetime) -> Sequence[Finding]:
    """*here* is what this machine's clock shows. Raises ClaimFailed when the store cannot answer."""
    found: list[Finding] = []
    if hasattr(store, "health"):
        facts = await store.health()
        found += diagnose_postgres(facts, here=here)
        if not is_askable(facts):
            return found
    elif hasattr(store, "file_health"):
        facts = await store.file_health()
        found += diagnose_sqlite(facts)
        if not is_file_askable(facts):
            return found
    ahead, oldest = await store.fleet_health(app)
    replicas, now = await store.replicas(app=app), await store.store_time()
    return [*found, *diagnose_fleet(replicas, ahead, oldest, now=now)]
