"""How late runs began and how long they took: a point for each, over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from onebeat.history import TickRecord
from onebeat.model import Verdict
from onebeat.web.views.axis import length_label, length_steps
from onebeat.web.views.window import Window
from onebeat.web.views.words import span

TOP = 10
BOTTOM = 130
_ARM = 3


class Level(NamedTuple):
    """A horizontal line, and what stands at it."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """`well` are dots and `badly` crosses, each as the path that draws them all. `told` says in words what
    is to be seen."""

    name: str
    well: str
    badly: str
    levels: tuple[Level, ...]
    median: Level
    p95: Level
    told: str


def lateness(record: TickRecord) -> float | None:
    return record.lateness


def duration(record: TickRecord) -> float | None:
    return record.duration


def plot(
    name: str, records: Sequence[TickRecord], of: Callable[[TickRecord], float | None], window: Window
) -> Plot | None:
    """What *of* says of each record that it says something of; None when of none."""
    points = [(record, seconds) for record in records if (seconds := of(record)) is not None]
    if not points:
        return None
    lengths = sorted(seconds for _, seconds in points)
    middle, p95 = median(lengths), nearest(lengths, 0.95)
    low, high = min(lengths[0], 0.0), max(lengths[-1], 0.001)

    def y(seconds: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (seconds - low) / (high - low), 1)

    well, badly = [], []
    for record, seconds in points:
        at = f"{window.x(record.tick.scheduled_at):g} {y(seconds):g}"
        if record.verdict is Verdict.RAN:
            well.append(f"M{at}h0")
        else:
            badly.append(f"M{at}m-{_ARM}-{_ARM}l{2 * _ARM} {2 * _ARM}m0-{2 * _ARM}l-{2 * _ARM} {2 * _ARM}")
    return Plot(
        name=name,
        well="".join(well),
        badly="".join(badly),
        levels=tuple(Level(y(step), length_label(step)) for step in length_steps(low, high)),
        median=Level(y(middle), span(middle)),
        p95=Level(y(p95), span(p95)),
        told=f"{len(points)} runs: median {span(middle)}, 95 % within {span(p95)}, "
        f"from {span(lengths[0])} to {span(lengths[-1])}.",
    )


def nearest(lengths: Sequence[float], share: float) -> float:
    """The least of *lengths*, which are sorted, that *share* of them do not exceed."""
    return lengths[max(math.ceil(share * len(lengths)) - 1, 0)]
