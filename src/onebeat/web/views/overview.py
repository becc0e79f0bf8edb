"""The list of jobs, and whether the fleet is well."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from statistics import median

from onebeat.history import END_OF_TIME, JobState, Mark
from onebeat.insight.wellness import Fleet
from onebeat.insight.words import written_in
from onebeat.schedules.every import Every
from onebeat.schedules.explain import describe
from onebeat.schedules.stored import stored
from onebeat.schedules.timetable import Timetable
from onebeat.web.views.overview_pick import NextOf, Picked
from onebeat.web.views.strip import Strip, strip
from onebeat.web.views.text import cut
from onebeat.web.views.words import Badge, badge, instant, span

_MOST_TROUBLES = 5
_LONGEST_TROUBLE = 300
_LONGEST_SCHEDULE = 160


@dataclass(frozen=True, slots=True)
class Wellness:
    """Why the fleet is not well, in words, none when it is; and how much there is of all."""

    troubles: tuple[str, ...]
    more: int
    replicas: int
    jobs: int
    running: int
    failing: int
    paused: int


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job. `next_at` is None when it is not due again or cannot be told, `next_words` that instant as
    short as it is clear; `paused` says until when, None for a job that is not."""

    job_id: str
    schedule: str
    zone: str | None
    next_at: datetime | None
    next_words: str
    last: Badge | None
    running: bool
    paused: str | None
    failures: int
    strip: Strip
    median: str
    p95: str


def wellness(fleet: Fleet, troubles: Sequence[str], running: Collection[str]) -> Wellness:
    return Wellness(
        troubles=tuple(cut(trouble, _LONGEST_TROUBLE) for trouble in troubles[:_MOST_TROUBLES]),
        more=max(0, len(troubles) - _MOST_TROUBLES),
        replicas=len(fleet.living),
        jobs=len(fleet.jobs),
        running=len(running),
        failing=sum(job.failures > 0 for job in fleet.jobs),
        paused=sum(job.paused_until is not None for job in fleet.jobs),
    )


def job_rows(
    picked: Picked,
    marks: Mapping[str, Sequence[Mark]],
    running: Collection[str],
    next_of: NextOf,
    *,
    now: datetime,
    zone: tzinfo,
    places: int,
) -> tuple[JobRow, ...]:
    """A row for each job of the page, with strips of so many *places*."""
    return tuple(
        _row(job, marks.get(job.job_id, ()), job.job_id in running, next_of(job), now, zone, places)
        for job in picked.jobs
    )


def _row(
    job: JobState,
    ticks: Sequence[Mark],
    running: bool,
    due: datetime | None,
    now: datetime,
    zone: tzinfo,
    places: int,
) -> JobRow:
    words, schedule_zone = in_words(job.schedule)
    durations = sorted(tick.duration for tick in ticks if tick.duration is not None)
    return JobRow(
        job_id=job.job_id,
        schedule=words,
        zone=schedule_zone,
        next_at=due,
        next_words=_soon(due, now, zone),
        last=None if job.last_verdict is None else badge(job.last_verdict),
        running=running,
        paused=None if job.paused_until is None else _until(job.paused_until, zone),
        failures=job.failures,
        strip=strip(ticks, places),
        median=span(median(durations) if durations else None),
        p95=span(_p95(durations)),
    )


@lru_cache(maxsize=4096)
def in_words(text: str | None) -> tuple[str, str | None]:
    """A stored schedule in words, and its zone where it has one of its own that they do not name."""
    if text is None:
        return "none registered", None
    schedule = stored(text)
    if schedule is None:
        return cut(text, _LONGEST_SCHEDULE), None
    sentence = describe(schedule).removesuffix(".")
    if isinstance(schedule, Timetable):
        return cut(sentence.removesuffix(f", {schedule.tz}"), _LONGEST_SCHEDULE), schedule.tz
    if isinstance(schedule, Every):
        return sentence.partition(", counted from")[0], "UTC"
    return cut(sentence, _LONGEST_SCHEDULE), None


def _p95(durations: Sequence[float]) -> float | None:
    """The nearest rank of sorted *durations*."""
    return durations[math.ceil(len(durations) * 0.95) - 1] if durations else None


def _soon(due: datetime | None, now: datetime, zone: tzinfo) -> str:
    """The time alone today, else with its date; a dash for None."""
    if due is None:
        return "–"
    there, today = written_in(zone, due), written_in(zone, now)
    return f"{there:%H:%M:%S}" if there.date() == today.date() else f"{there:%Y-%m-%d %H:%M}"


def _until(moment: datetime, zone: tzinfo) -> str:
    return "until resumed" if moment == END_OF_TIME else f"until {instant(moment, zone)}"
