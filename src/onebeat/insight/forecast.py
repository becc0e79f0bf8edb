"""What a set of jobs will ask of a fleet, in virtual time: jobs and a span in, counts out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from onebeat.schedule import Schedule
from onebeat.schedules.dues import due_between
from onebeat.schedules.explain import explain

MOST_INSTANTS = 5_000_000
"""Of how many due instants of different schedules a forecast is made at most."""


class TooMany(Exception):
    """The span holds more than MOST_INSTANTS instants."""


@dataclass(frozen=True, slots=True)
class Coming:
    """A job as far as its load goes: how many *seconds* a body takes, and whether its runs may overlap."""

    job_id: str
    schedule: Schedule
    seconds: float
    overlaps: bool = False


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of the span, how many ticks begin in it, and some of their jobs."""

    at: datetime
    ticks: int
    jobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Ticks of all jobs in [since, until). `at_once` is the most due at one instant, and which instant that
    is; `collisions` counts the instants at which more than one is. `skipped` says how many ticks of a job
    come while its run before still goes on; `together` is the most runs that go on at a time in the fleet.
    `surprises` are the changes of clocks, by job, `never` the jobs that are not due again."""

    since: datetime
    until: datetime
    ticks: int
    busiest: tuple[Minute, ...]
    at_once: int
    at_once_at: datetime | None
    collisions: int
    together: int
    skipped: dict[str, int]
    surprises: dict[str, tuple[str, ...]]
    never: tuple[str, ...]


def forecast(jobs: Collection[Coming], *, since: datetime, until: datetime) -> Forecast:
    """Raises TooMany for a span that holds too much."""
    groups: dict[Schedule, list[Coming]] = defaultdict(list)
    for job in jobs:
        groups[job.schedule].append(job)
    dues = _dues(groups, since, until)
    per_instant: Counter[int] = Counter()
    for schedule, instants in dues.items():
        for instant in instants:
            per_instant[instant] += len(groups[schedule])
    most = max(per_instant.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    return Forecast(
        since=since,
        until=until,
        ticks=sum(per_instant.values()),
        busiest=_busiest(per_instant, groups, dues),
        at_once=most[1],
        at_once_at=_instant(most[0]) if most[1] else None,
        collisions=sum(count > 1 for count in per_instant.values()),
        together=_together(groups, dues),
        skipped={
            job.job_id: skipped
            for schedule, those in groups.items()
            for job in those
            if (skipped := _skipped(job, dues[schedule]))
        },
        surprises={
            job.job_id: told for job in jobs if (told := explain(job.schedule, after=since, count=0).warnings)
        },
        never=tuple(job.job_id for job in jobs if job.schedule.next_after(since) is None),
    )


def _dues(groups: Mapping[Schedule, object], since: datetime, until: datetime) -> dict[Schedule, list[int]]:
    """The due instants of each schedule, in seconds since the epoch."""
    left = MOST_INSTANTS
    dues: dict[Schedule, list[int]] = {}
    before = since - timedelta(microseconds=1)
    for schedule in groups:
        found = dues[schedule] = []
        for due in due_between(schedule, before, until - timedelta(microseconds=1)):
            found.append(int(due.timestamp()))
            if len(found) > left:
                raise TooMany
        left -= len(found)
    return dues


def _busiest(
    per_instant: Counter[int], groups: Mapping[Schedule, Sequence[Coming]], dues: Mapping[Schedule, list[int]]
) -> tuple[Minute, ...]:
    minutes: Counter[int] = Counter()
    for instant, count in per_instant.items():
        minutes[instant // 60] += count
    most = sorted(minutes.items(), key=lambda item: (-item[1], item[0]))[:5]
    named: dict[int, list[str]] = {minute: [] for minute, _ in most}
    for schedule, instants in dues.items():
        for minute in {instant // 60 for instant in instants} & named.keys():
            named[minute] += [job.job_id for job in groups[schedule]]
    return tuple(
        Minute(_instant(minute * 60), count, tuple(sorted(named[minute])[:10])) for minute, count in most
    )


def _skipped(job: Coming, instants: Sequence[int]) -> int:
    """How many ticks come while the run before still goes on, where overlap is forbidden."""
    if job.overlaps:
        return 0
    skipped, free_at = 0, float("-inf")
    for instant in instants:
        if instant < free_at:
            skipped += 1
        else:
            free_at = instant + job.seconds
    return skipped


def _together(groups: Mapping[Schedule, Sequence[Coming]], dues: Mapping[Schedule, list[int]]) -> int:
    """The most runs at a time; a run that takes no time ends as it begins."""
    changes: Counter[float] = Counter()
    for schedule, those in groups.items():
        for seconds, count in Counter(job.seconds for job in those if job.seconds > 0).items():
            for instant in dues[schedule]:
                changes[instant] += count
                changes[instant + seconds] -= count
    running = most = 0
    for _, change in sorted(changes.items()):
        running += change
        most = max(most, running)
    return most


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
