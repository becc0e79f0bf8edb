"""What did not end well over the last weeks: by day, by hour, by job."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from operator import attrgetter

from onebeat.history import Tally, TickRecord
from onebeat.model import Verdict
from onebeat.web.views.calendar import Cell, cells_of, name_of
from onebeat.web.views.heat import Scale, scale_of
from onebeat.web.views.local_days import LocalDay, hours_of, instant_of
from onebeat.web.views.words import Badge, badge

_HEADS = {
    Verdict.FAILED: "failed",
    Verdict.TIMED_OUT: "timed out",
    Verdict.LOST: "lost",
    Verdict.MISSED: "missed",
    Verdict.CLAIM_ERROR: "unclaimed",
}
NOT_WELL = tuple(_HEADS)
"""What ended badly, or never began although it should have."""


@dataclass(frozen=True, slots=True)
class PastRow:
    """One day: how many of each of NOT_WELL, and by hour."""

    iso: str
    name: str
    note: str
    counts: tuple[int, ...]
    cells: tuple[Cell, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Past:
    """The last weeks, the newest day first."""

    rows: tuple[PastRow, ...]
    scale: Scale

    @property
    def total(self) -> int:
        return sum(row.total for row in self.rows)


@dataclass(frozen=True, slots=True)
class Concerned:
    """A job, how many of its ticks had which verdict, and the latest of them."""

    job_id: str
    counts: tuple[tuple[Verdict, int], ...]
    latest: TickRecord

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)


def heads() -> tuple[tuple[Badge, str], ...]:
    """Over the columns of NOT_WELL: a sign, and a word that is no longer than it has to be."""
    return tuple((badge(verdict), word) for verdict, word in _HEADS.items())


def past_of(tallies: Iterable[Tally], days: Sequence[LocalDay], zone: tzinfo) -> Past:
    """*days* with what *tallies* tell of each; an hour of theirs belongs to the day in which it begins."""
    verdicts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    hours: dict[str, Counter[int]] = defaultdict(Counter)
    for since, verdict, count in tallies:
        wall = since.astimezone(zone)
        verdicts[wall.date().isoformat()][verdict] += count
        hours[wall.date().isoformat()][wall.hour] += count
    scale = scale_of(count for those in hours.values() for count in those.values())
    rows = [
        PastRow(
            iso=(iso := day.date.isoformat()),
            name=name_of(day),
            note=day.length,
            counts=tuple(verdicts[iso][verdict] for verdict in NOT_WELL),
            cells=cells_of(hours[iso], scale, lambda _: ""),
        )
        for day in reversed(days)
    ]
    return Past(tuple(rows), scale)


def span_of(day: LocalDay, hour: int | None, zone: tzinfo) -> tuple[datetime, datetime]:
    """The whole of *day*, or all of its *hour*, be it once, twice or not at all."""
    if hour is None:
        return instant_of(day.start), instant_of(day.end)
    those = [each for each in hours_of(day, zone) if each.hour == hour]
    if not those:
        return instant_of(day.start), instant_of(day.start)
    return instant_of(those[0].start), instant_of(those[-1].end)


def concerned(records: Iterable[TickRecord]) -> tuple[Concerned, ...]:
    """The jobs of *records*, which come newest first: that with the most of them first."""
    found: dict[str, list[TickRecord]] = defaultdict(list)
    for record in records:
        found[record.tick.job_id].append(record)
    told = [Concerned(job_id, _counts(those), those[0]) for job_id, those in found.items()]
    return tuple(sorted(told, key=lambda each: (-each.total, each.job_id)))


def _counts(records: Sequence[TickRecord]) -> tuple[tuple[Verdict, int], ...]:
    counts = Counter(map(attrgetter("verdict"), records))
    return tuple((verdict, counts[verdict]) for verdict in NOT_WELL if counts[verdict])
