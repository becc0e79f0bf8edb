"""How many ticks are to come in each minute. Takes a while: see MOST_STEPS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nsmallest
from itertools import groupby

from onebeat.schedules.dues import due_after
from onebeat.schedules.every import Every
from onebeat.web.views.local_days import MINUTE, LocalDay, instant_of, minute_of
from onebeat.web.views.plan import Group, Plan

MOST_STEPS = 500_000
"""Instants, of all different schedules together, that are looked at: a few seconds' work at most."""

_A_STAMPEDE = 10
_OUTSTANDING = 2
_MOST_NAMED = 5
_HOUR = 60
_INSTANT = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Load:
    """Ticks, and jobs that come due, by minute from *since* up to *until*: where the bound cut it, that lies
    before the end of the *days* it was asked of."""

    plan: Plan
    days: tuple[LocalDay, ...]
    since: int
    until: int
    ticks: Mapping[int, int]
    jobs: Mapping[int, int]

    @property
    def whole(self) -> bool:
        return self.until == self.days[-1].end


@dataclass(frozen=True, slots=True)
class Busy:
    """A minute in which much begins, and the ids of some of those *jobs*. A stampede is one of many jobs that
    stands out from the average minute of its day."""

    minute: int
    ticks: int
    jobs: int
    some: tuple[str, ...]
    stampede: bool


def load_of(plan: Plan, days: Sequence[LocalDay], now: datetime, *, most: int = MOST_STEPS) -> Load:
    """From the minute of *now* to the end of *days*, the first of which holds it."""
    since = until = minute_of(now)
    ticks: Counter[int] = Counter()
    jobs: Counter[int] = Counter()
    streams = [_Stream(group, since) for group in plan.groups]
    for end in _ends(days, since):
        found = []
        for stream in streams:
            for minute, count, steps in stream.up_to(end):
                most -= steps
                found.append((minute, count, stream.jobs))
                if most < 0:
                    return Load(plan, tuple(days), since, until, ticks, jobs)
        for minute, count, together in found:
            ticks[minute] += count * together
            jobs[minute] += together
        until = end
    return Load(plan, tuple(days), since, until, ticks, jobs)


def busiest(load: Load, day: LocalDay, *, count: int = 5) -> tuple[Busy, ...]:
    """The minutes of *day* with the most ticks, the busiest first."""
    threshold = _threshold(load, day)
    return tuple(
        Busy(
            minute=minute,
            ticks=load.ticks[minute],
            jobs=load.jobs[minute],
            some=_some(load.plan.groups, minute),
            stampede=load.jobs[minute] >= threshold,
        )
        for minute in nsmallest(count, _busy(load, day), key=lambda each: (-load.ticks[each], each))
    )


def peak(load: Load, day: LocalDay) -> tuple[int, bool] | None:
    """The busiest minute of *day*, and whether it is a stampede; None where nothing is due."""
    minute = max(_busy(load, day), key=lambda each: (load.ticks[each], -each), default=None)
    if minute is None:
        return None
    return minute, load.jobs[minute] >= _threshold(load, day)


def _busy(load: Load, day: LocalDay) -> list[int]:
    return [minute for minute in range(day.start, day.end) if load.ticks.get(minute)]


def _threshold(load: Load, day: LocalDay) -> float:
    """From how many jobs on a minute is a stampede: many, and above the average of what was counted."""
    counted = min(day.end, load.until) - max(day.start, load.since)
    average = sum(load.jobs[minute] for minute in _busy(load, day)) / max(1, counted)
    return max(_A_STAMPEDE, _OUTSTANDING * average)


def _ends(days: Sequence[LocalDay], since: int) -> Iterator[int]:
    """Up to where all schedules are followed before any is followed further: by hours, later by days."""
    yield from (hour for hour in range(days[0].start + _HOUR, days[0].end, _HOUR) if hour > since)
    yield from (day.end for day in days)


class _Stream:
    """The minutes in which one group comes due, in order."""

    def __init__(self, group: Group, since: int) -> None:
        self.jobs = len(group.job_ids)
        self._minutes = _minutes(group, since)
        self._next = next(self._minutes, None)

    def up_to(self, end: int) -> Iterator[tuple[int, int, int]]:
        """Those before *end* that were not given yet: minute, ticks, and how many steps it took."""
        while self._next is not None and self._next[0] < end:
            yield self._next
            self._next = next(self._minutes, None)


def _minutes(group: Group, since: int) -> Iterator[tuple[int, int, int]]:
    begin = max(group.begin, instant_of(since))
    if isinstance(group.schedule, Every):
        yield from _multiples(group.schedule.period, begin)
        return
    for minute, dues in groupby(due_after(group.schedule, begin - _INSTANT), key=minute_of):
        count = sum(1 for _ in dues)
        yield minute, count, count


def _multiples(period: int, begin: datetime) -> Iterator[tuple[int, int, int]]:
    """By arithmetic: a job that is due each second has as many ticks as a thousand others."""
    seconds = -((_EPOCH - begin) // _SECOND)
    due = -(-seconds // period) * period
    while True:
        minute = due // MINUTE
        last = (minute * MINUTE + MINUTE - 1) // period * period
        yield minute, (last - due) // period + 1, 1
        due = last + period


def _some(groups: Sequence[Group], minute: int) -> tuple[str, ...]:
    start, end = instant_of(minute), instant_of(minute + 1)
    named: list[str] = []
    for group in groups:
        due = group.schedule.next_after(max(group.begin, start) - _INSTANT)
        if due is not None and due < end:
            named += group.job_ids
    return tuple(nsmallest(_MOST_NAMED, named))
