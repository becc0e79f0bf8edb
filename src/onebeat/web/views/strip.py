"""A job's newest ticks as one small drawing: a mark a tick, the newest on the right.

Each kind of mark has a shape of its own, so that it reads without colour, and all of a kind are one path, so
that a page of jobs is small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from onebeat.history import Mark
from onebeat.web.views.words import badge

STEP = 5
HEIGHT = 18


class _Shape(NamedTuple):
    """Strokes from `top` down, in the letters of a path, over `height` in all."""

    top: int
    strokes: str
    height: int


_SHAPES: Mapping[str, _Shape] = {
    "ran": _Shape(8, "v9", 9),  # a bar of half the height
    "failed": _Shape(1, "v16", 16),  # a bar of the whole height
    "lost": _Shape(1, "v6m0 4v6", 16),  # such a bar, broken
    "missed": _Shape(1, "v5", 5),  # a stump that hangs from above
    "skipped": _Shape(13, "v4", 4),  # a stump that stands below
    "running": _Shape(6, "v2m0 3v2m0 3v1", 11),  # a dotted bar
}


class Path(NamedTuple):
    """All marks of a kind, as the `d` of one path."""

    kind: str
    d: str


class Strip(NamedTuple):
    """The drawing of at most `places` ticks, and what it shows in words."""

    width: int
    paths: tuple[Path, ...]
    words: str


def strip(ticks: Sequence[Mark], places: int) -> Strip:
    """*ticks* come the oldest first."""
    first = places - len(ticks)
    at: dict[str, list[int]] = {}
    for place, tick in enumerate(ticks, start=first):
        at.setdefault(badge(tick.verdict).kind, []).append(place)
    paths = tuple(Path(kind, _drawn(kind, columns)) for kind, columns in at.items())
    return Strip(places * STEP, paths, _words(ticks))


def legend() -> tuple[tuple[Path, str], ...]:
    """Each kind of mark, and what it says."""
    words = {
        "ran": "ran",
        "failed": "failed or timed out",
        "lost": "lost with its replica",
        "missed": "missed, or claimed by nobody",
        "skipped": "left out: paused, overlapped, cancelled or early",
        "running": "running",
    }
    return tuple((Path(kind, _drawn(kind, [0])), told) for kind, told in words.items())


def _drawn(kind: str, places: Sequence[int]) -> str:
    """Marks that follow each other take a few characters each."""
    top, strokes, height = _SHAPES[kind]
    drawn = f"M{places[0] * STEP + 2} {top}{strokes}"
    for before, place in pairwise(places):
        drawn += f"m{(place - before) * STEP}-{height}{strokes}"
    return drawn


def _words(ticks: Sequence[Mark]) -> str:
    if not ticks:
        return "No tick so far"
    counts = Counter(badge(tick.verdict).word for tick in ticks)
    told = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    return f"{told}. The newest: {badge(ticks[-1].verdict).word}"
