"""Load to come as the calendar shows it: days by hour, one day by minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby

from onebeat.web.views.heat import Scale, scale_of, short
from onebeat.web.views.load import Busy, Load, busiest, peak
from onebeat.web.views.local_days import LocalDay, LocalHour, hours_of, instant_of

HOURS = range(24)
PAST, UNKNOWN = "past", "unknown"
"""Classes of what lies before the load, and of what its bound cut off."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One hour of one day: a count, shortened, and its class in the stylesheet."""

    hour: int
    count: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class DayRow:
    """One day: `note` where it is not like others, `peak` its busiest minute, `cells` by the hours of the
    wall clock; an hour that comes twice has the ticks of both."""

    iso: str
    name: str
    note: str
    ticks: int
    peak: str
    stampede: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """The days to come."""

    load: Load
    rows: tuple[DayRow, ...]
    scale: Scale

    @property
    def ticks(self) -> int:
        return sum(row.ticks for row in self.rows)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Minutes of one hour, from its *first* on, that look alike."""

    first: int
    length: int
    kind: str


@dataclass(frozen=True, slots=True)
class HourRow:
    """One hour of the day's map, and what a reader hears of it."""

    label: str
    stretches: tuple[Stretch, ...]
    ticks: int
    peak: str


@dataclass(frozen=True, slots=True)
class MinuteMap:
    """One day by minute."""

    iso: str
    name: str
    note: str
    rows: tuple[HourRow, ...]
    scale: Scale
    busiest: tuple[tuple[str, Busy], ...]

    @property
    def stampedes(self) -> int:
        return sum(minute.stampede for _, minute in self.busiest)


def outlook_of(load: Load, zone: tzinfo) -> Outlook:
    """All days of *load*, by hour."""
    hours = {day: hours_of(day, zone) for day in load.days}
    counts = {day: _by_hour(those, load) for day, those in hours.items()}
    scale = scale_of(count for those in counts.values() for count in those.values())
    rows = tuple(_day_row(day, hours[day], counts[day], load, scale, zone) for day in load.days)
    return Outlook(load, rows, scale)


def minute_map_of(load: Load, day: LocalDay, zone: tzinfo) -> MinuteMap:
    """One of its days, by minute."""
    scale = scale_of(load.ticks.get(minute, 0) for minute in range(day.start, day.end))
    return MinuteMap(
        iso=day.date.isoformat(),
        name=name_of(day),
        note=_note(day, load),
        rows=tuple(_hour_row(hour, load, scale) for hour in hours_of(day, zone)),
        scale=scale,
        busiest=tuple((_wall(busy.minute, day, zone), busy) for busy in busiest(load, day)),
    )


def name_of(day: LocalDay) -> str:
    """With its weekday, which a pattern follows more often than the date."""
    return f"{day.date:%a %Y-%m-%d}"


def cells_of(counts: Counter[int], scale: Scale, kind: Callable[[int], str]) -> tuple[Cell, ...]:
    """A cell for each hour of the wall clock; *kind* is the class of one that is no level of heat, if any."""
    return tuple(
        Cell(hour, counts[hour], short(counts[hour]), kind(hour) or f"heat-{scale.level(counts[hour])}")
        for hour in HOURS
    )


def _by_hour(hours: Iterable[LocalHour], load: Load) -> Counter[int]:
    counts: Counter[int] = Counter()
    for hour in hours:
        counts[hour.hour] += sum(load.ticks.get(minute, 0) for minute in range(hour.start, hour.end))
    return counts


def _day_row(
    day: LocalDay, hours: Sequence[LocalHour], counts: Counter[int], load: Load, scale: Scale, zone: tzinfo
) -> DayRow:
    ends = {hour.hour: hour.end for hour in hours}

    def kind(hour: int) -> str:
        end = ends.get(hour)
        if end is None or end <= load.since:
            return PAST
        return UNKNOWN if end > load.until else ""

    busy = peak(load, day)
    return DayRow(
        iso=day.date.isoformat(),
        name=name_of(day),
        note=_note(day, load),
        ticks=counts.total(),
        peak="–" if busy is None else f"{load.ticks[busy[0]]:,} at {_wall(busy[0], day, zone)}",
        stampede=busy is not None and busy[1],
        cells=cells_of(counts, scale, kind),
    )


def _note(day: LocalDay, load: Load) -> str:
    if day.start >= load.until:
        return ", ".join(filter(None, (day.length, "not counted")))
    if day.end > load.until:
        return ", ".join(filter(None, (day.length, "counted in part")))
    return day.length


def _hour_row(hour: LocalHour, load: Load, scale: Scale) -> HourRow:
    def kind(minute: int) -> str:
        if minute < load.since:
            return PAST
        return UNKNOWN if minute >= load.until else f"heat-{scale.level(load.ticks.get(minute, 0))}"

    stretches = []
    for name, those in groupby(range(hour.start, hour.end), key=kind):
        minutes = list(those)
        stretches.append(Stretch(minutes[0] - hour.start + hour.first, len(minutes), name))
    counts = [load.ticks.get(minute, 0) for minute in range(hour.start, hour.end)]
    most = max(counts)
    peak = f"{most:,} at {hour.label[:2]}:{hour.first + counts.index(most):02}" if most else "–"
    return HourRow(hour.label, tuple(stretches), sum(counts), peak)


def _wall(minute: int, day: LocalDay, zone: tzinfo) -> str:
    """Where clocks change that day, it says which time it is."""
    wall = instant_of(minute).astimezone(zone)
    return wall.strftime("%H:%M %Z" if day.length else "%H:%M")
