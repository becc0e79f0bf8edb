"""Which part of the ticks each replica is the first to ask for (C-FAIR). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from itertools import islice

from onebeat.engine.job import Job
from onebeat.engine.roster import Roster
from onebeat.model import Tick
from onebeat.schedules.dues import due_between

_MOST_TICKS = 20_000
"""Of how many ticks it is worked out whom they prefer."""


def shares_of(jobs: Collection[Job], *, since: datetime, until: datetime, replicas: int) -> tuple[float, ...]:
    """The parts, of 1, of the first ticks of each job."""
    names = [f"{number:032x}" for number in range(replicas)]
    rosters = []
    for name in names:
        rosters.append(Roster())
        rosters[-1].know(names, name)
    wins: Counter[int] = Counter()
    for tick in _some_ticks(jobs, since, until):
        wins[next(number for number, roster in enumerate(rosters) if roster.rank(tick) == 0)] += 1
    total = sum(wins.values())
    return tuple(round(wins[number] / total, 4) if total else 0.0 for number in range(replicas))


def _some_ticks(jobs: Collection[Job], since: datetime, until: datetime) -> Iterator[Tick]:
    at_all = timedelta(microseconds=1)
    each = max(1, _MOST_TICKS // max(1, len(jobs)))
    for job in islice(jobs, _MOST_TICKS):
        for due in islice(due_between(job.schedule, since - at_all, until - at_all), each):
            yield Tick(job.id, due)
