"""Replicas × time: each run where it ran and for how long, and each tick that nobody ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from onebeat.history import TickRecord
from onebeat.model import Tick, Verdict
from onebeat.web.views.addresses import tick_path
from onebeat.web.views.text import cut
from onebeat.web.views.tick_words import UNCLAIMED, badge_of, brief
from onebeat.web.views.window import RIGHT, Window
from onebeat.web.views.words import Badge

ROW = 20
TOP = 8
NOT_RUN = "Not run"

_MOST_LANES = 20
_MOST_ROWS = 4  # of one lane, one below the other: runs of a replica that go on at a time
_GAP = 6
_THINNEST = 3.0
_SIGN_ROOM = 12.0
_LONGEST_NAME = 22
_LONGEST_LINK = 400
_PATTERNS = {"failed": "hatch", "lost": "dots", "skipped": "lines", "running": "stripes"}


@dataclass(frozen=True, slots=True)
class Bar:
    """A run. *told* says it in words; *path* is None where an address would be too long."""

    x: float
    y: float
    width: float
    height: float
    badge: Badge
    told: str
    path: str | None

    @property
    def signed(self) -> bool:
        """Whether there is room for its sign."""
        return self.width >= _SIGN_ROOM

    @property
    def pattern(self) -> str | None:
        """By which it is told from others without colour; None: it is filled."""
        return _PATTERNS.get(self.badge.kind)


@dataclass(frozen=True, slots=True)
class Sign:
    """A tick that nobody ran, or several that would be drawn over each other."""

    x: float
    y: float
    badge: Badge
    told: str
    path: str | None


@dataclass(frozen=True, slots=True)
class Lane:
    """The *name* of a replica as far as there is room; *full* as it is."""

    name: str
    full: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Timeline:
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    signs: tuple[Sign, ...]
    height: float

    @property
    def legend(self) -> tuple[Badge, ...]:
        """What stands in it."""
        badges = (*(bar.badge for bar in self.bars), *(sign.badge for sign in self.signs))
        return tuple(dict.fromkeys(badges))


def timeline(records: Sequence[TickRecord], unclaimed: Sequence[Tick], window: Window) -> Timeline:
    """A lane each of the replicas that ran any of *records*, by their labels, and one for what nobody ran, to
    which *unclaimed* ticks belong that have no row."""
    lanes, bars, y = [], [], float(TOP)
    for name, runs in _by_lane(record for record in records if ran(record)).items():
        rows = _rows(runs, window.now)
        height = ROW * len(rows)
        lanes.append(Lane(cut(name, _LONGEST_NAME), cut(name, 200), y, height))
        for number, row in enumerate(rows):
            bars += [_bar(record, window, y + number * ROW) for record in row]
        y += height + _GAP
    lanes.append(Lane(NOT_RUN, "Ticks that nobody ran", y, ROW))
    signs = _signs([record for record in records if not ran(record)], unclaimed, window, y + ROW / 2)
    return Timeline(tuple(lanes), tuple(bars), signs, y + ROW + _GAP)


def ran(record: TickRecord) -> bool:
    """Whether some replica took the tick up."""
    return record.replica is not None


def _by_lane(runs: Iterable[TickRecord]) -> dict[str, list[TickRecord]]:
    """By label; the lanes with the newest runs stay apart, the others share one."""
    lanes: dict[str, list[TickRecord]] = defaultdict(list)
    for record in runs:
        lanes[record.replica or ""].append(record)
    if len(lanes) <= _MOST_LANES:
        return dict(sorted(lanes.items()))
    newest = sorted(lanes, key=lambda name: max(record.tick for record in lanes[name]), reverse=True)
    kept = {name: lanes[name] for name in sorted(newest[: _MOST_LANES - 1])}
    others = newest[_MOST_LANES - 1 :]
    return kept | {f"{len(others)} others": [record for name in others for record in lanes[name]]}


def _rows(runs: Iterable[TickRecord], now: datetime) -> list[list[TickRecord]]:
    """Runs in rows, so that in none of them two go on at a time while there are rows left."""
    rows: list[list[TickRecord]] = []
    ends: list[datetime] = []
    for record in sorted(runs, key=lambda each: (begin_of(each), each.tick)):
        begin, end = begin_of(record), end_of(record, now)
        free = next((number for number, until in enumerate(ends) if until <= begin), None)
        if free is None and len(rows) < _MOST_ROWS:
            rows.append([record])
            ends.append(end)
            continue
        row = ends.index(min(ends)) if free is None else free
        rows[row].append(record)
        ends[row] = max(ends[row], end)
    return rows


def begin_of(record: TickRecord) -> datetime:
    return record.started_at or record.claimed_at or record.tick.scheduled_at


def end_of(record: TickRecord, now: datetime) -> datetime:
    """Never before it began, whatever two clocks say; unknown of what was lost: there it began."""
    begin = begin_of(record)
    return max(begin, now if record.verdict is None else record.finished_at or begin)


def _bar(record: TickRecord, window: Window, y: float) -> Bar:
    x = min(window.x(begin_of(record)), RIGHT - _THINNEST)
    width = max(round(window.x(end_of(record, window.now)) - x, 1), _THINNEST)
    inset = 5 if record.verdict is Verdict.RAN else 2  # what did not end well stands out, however thin it is
    return Bar(x, y + inset, width, ROW - 2 * inset, badge_of(record), brief(record), _link(record.tick))


def _signs(
    records: Sequence[TickRecord], unclaimed: Sequence[Tick], window: Window, y: float
) -> tuple[Sign, ...]:
    """Those of one kind that lie within a sign's breadth of each other are one."""
    found = [(record.tick, badge_of(record), brief(record)) for record in records]
    found += [(tick, UNCLAIMED, UNCLAIMED.word) for tick in unclaimed]
    signs: list[Sign] = []
    counts: list[int] = []
    for tick, badge, told in sorted(found, key=lambda each: each[0]):
        x = window.x(tick.scheduled_at)
        if signs and signs[-1].badge == badge and x - signs[-1].x < _SIGN_ROOM:
            counts[-1] += 1
            told = f"{counts[-1]} ticks {badge.word}, the newest at {tick.scheduled_at:%Y-%m-%d %H:%M:%S} UTC"
            signs[-1] = Sign(signs[-1].x, y, badge, told, _link(tick))
        else:
            signs.append(Sign(x, y, badge, told, _link(tick)))
            counts.append(1)
    return tuple(signs)


def _link(tick: Tick) -> str | None:
    """A long id, hundreds of times in one page, would be most of it: the table leads to its ticks."""
    path = tick_path(tick)
    return path if len(path) <= _LONGEST_LINK else None


def still_going(records: Iterable[TickRecord], since: datetime, now: datetime) -> list[TickRecord]:
    """Those of *records*, scheduled before *since*, whose runs had not ended then."""
    return [record for record in records if ran(record) and end_of(record, now) > since]
