"""Where replicas of one app disagree: about a schedule, the zone data, or the time. Pure (F-DRIFT)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from onebeat.history import ReplicaState

TOLERATED_SKEW = 1.0
"""Seconds by which a replica's clock may differ from the store's before it is worth a word."""

TOLERATED_SPAN = timedelta(minutes=10)
"""How long two versions of the app may run side by side: a rolling deploy is no drift."""


class Drift(StrEnum):
    """What replicas disagree about."""

    SCHEDULE = "schedule"
    ZONE_DATA = "zone_data"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing that replicas disagree about: `sides` gives each opinion with the labels that hold it.

    `job_id` belongs to a schedule. A clock's opinion is its lead in seconds.
    """

    about: Drift
    sides: tuple[tuple[str, tuple[str, ...]], ...]
    job_id: str | None = None

    def __str__(self) -> str:
        told = "; ".join(f"{opinion} on {', '.join(labels)}" for opinion, labels in self.sides)
        if self.about is Drift.SCHEDULE:
            return f"job {self.job_id} has different schedules: {told}"
        if self.about is Drift.ZONE_DATA:
            return f"zone data differ: {told}"
        return f"clocks differ from the store's: {told}"


def disagreements(replicas: Sequence[ReplicaState], *, now: datetime) -> tuple[Disagreement, ...]:
    """What the living among *replicas* disagree about at *now*, by the store's clock.

    A replica younger than TOLERATED_SPAN is left out, whoever else lives: it may be a deploy in progress.
    A job that only some of them have is no disagreement: they may serve different jobs.
    """
    living = [replica for replica in replicas if replica.dead_at is None]
    settled = [replica for replica in living if now - replica.started_at >= TOLERATED_SPAN]
    return (*_of_schedules(settled), *_of_zone_data(settled), *_of_clocks(living))


def _of_schedules(replicas: Sequence[ReplicaState]) -> Iterable[Disagreement]:
    opinions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for replica in replicas:
        for job_id, digest in replica.jobs.items():
            opinions[job_id][digest].append(replica.label)
    for job_id, sides in sorted(opinions.items()):
        if len(sides) > 1:
            yield Disagreement(Drift.SCHEDULE, _sides(sides), job_id)


def _of_zone_data(replicas: Sequence[ReplicaState]) -> Iterable[Disagreement]:
    sides: dict[str, list[str]] = defaultdict(list)
    for replica in replicas:
        sides[replica.zone_data].append(replica.label)
    if len(sides) > 1:
        yield Disagreement(Drift.ZONE_DATA, _sides(sides))


def _of_clocks(replicas: Sequence[ReplicaState]) -> Iterable[Disagreement]:
    sides: dict[str, list[str]] = defaultdict(list)
    for replica in replicas:
        if abs(replica.skew) > TOLERATED_SKEW:
            sides[f"{replica.skew:+.1f} s"].append(replica.label)
    if sides:
        yield Disagreement(Drift.CLOCK, _sides(sides))


def _sides(sides: dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((opinion, tuple(sorted(labels))) for opinion, labels in sorted(sides.items()))
