"""Log records of the heartbeat: who died, who came back, and what replicas disagree about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from logging import INFO, WARNING
from typing import Any

from onebeat.events import (
    BeatFailed,
    BeatsOnJobLoop,
    FailedOver,
    ReplicaLapsed,
    ReplicasDisagree,
    TicksLost,
)
from onebeat.model import Tick
from onebeat.observers.records import Records, counted, named


class FleetLogs:
    """All of it is rare, and told once by its very nature."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.speakers: dict[type[Any], Callable[[Any], None]] = {
            BeatFailed: self._beat_failed,
            BeatsOnJobLoop: self._beats_on_job_loop,
            ReplicaLapsed: self._lapsed,
            TicksLost: self._ticks_lost,
            FailedOver: self._failed_over,
            ReplicasDisagree: self._disagree,
        }

    def _beat_failed(self, event: BeatFailed) -> None:
        self._records.say(
            WARNING,
            "the heartbeat fails (%s: %s); after %g s without one another replica may declare this one dead",
            event.error.failure.value,
            event.error,
            event.ttl,
            reason=event.error.failure.value,
        )

    def _beats_on_job_loop(self, event: BeatsOnJobLoop) -> None:
        self._records.say(
            WARNING,
            "%s ties the heartbeat to the jobs' loop: a job that blocks the loop may lose its claim; give a "
            "URL or a synchronous pool, and it beats on a thread of its own",
            event.pool,
        )

    def _lapsed(self, event: ReplicaLapsed) -> None:
        self._records.say(
            WARNING,
            "replica %r was declared dead while it was away: %s taken over and cancelled%s, %s kept",
            event.replica.label,
            counted(len(event.lost), "run"),
            _of(event.lost),
            counted(len(event.kept), "run"),
            app=event.replica.app,
            replica=event.replica.label,
            replica_id=event.replica.id,
        )

    def _ticks_lost(self, event: TicksLost) -> None:
        self._records.say(
            WARNING,
            "replicas have died: %s lost in their runs%s",
            counted(len(event.ticks), "tick"),
            _of(event.ticks),
            ticks=len(event.ticks),
            job=event.ticks[0].job_id if len(event.ticks) == 1 else None,
        )

    def _failed_over(self, event: FailedOver) -> None:
        self._records.say(
            WARNING if event.lost else INFO,
            "the database goes on under timeline %s: %s asserted again, %s claimed by others meanwhile%s",
            event.timeline,
            counted(event.asserted, "claim"),
            counted(len(event.lost), "tick"),
            _of(event.lost),
        )

    def _disagree(self, event: ReplicasDisagree) -> None:
        self._records.say(WARNING, "replicas disagree: %s", event.what, job=event.job_id)


def _of(ticks: Sequence[Tick]) -> str:
    return f" ({named([tick.job_id for tick in ticks])})" if ticks else ""
