"""What is wrong with a fleet. Pure (F-DRIFT)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from onebeat.doctor.finding import Finding, Level
from onebeat.drift import disagreements
from onebeat.history import ReplicaState

_OLD = timedelta(days=31)


def diagnose_fleet(
    replicas: Sequence[ReplicaState], ahead: Sequence[str], oldest: datetime | None, *, now: datetime
) -> Iterator[Finding]:
    """*ahead* are jobs whose watermark lies in the future, *oldest* the oldest tick that is kept."""
    found = [str(one) for one in disagreements(replicas, now=now)]
    for text in found:
        yield Finding(
            Level.WARNING, "agreement", text, "deploy one version everywhere; keep clocks and tzdata alike"
        )
    living = [replica for replica in replicas if replica.dead_at is None]
    if not found:
        yield Finding(Level.OK, "agreement", f"{len(living)} living replicas agree")
    gone = [replica.label for replica in replicas if replica.dead_at is not None and not replica.left]
    if gone:
        told = f"died within a day: {', '.join(gone)}"
        yield Finding(Level.WARNING, "replicas", told, "killed, frozen or cut off: see their logs")
    for job_id in ahead:
        yield Finding(
            Level.ERROR,
            "watermark",
            f"job {job_id!r} was claimed in the future: its ticks are refused until then",
            f"set the clocks right, then: onebeat repair {shlex.quote(job_id)}",
        )
    if oldest is not None and now - oldest > _OLD:
        advice = "is a replica up? pruning is theirs; set retention= where so much is meant"
        yield Finding(Level.WARNING, "history", f"it reaches back to {oldest:%Y-%m-%d}", advice)
