"""The strip of a job's newest ticks: small, and readable without colour."""

from __future__ import annotations

import re
from datetime import timedelta

from onebeat.history import Mark
from onebeat.model import Verdict
from onebeat.web.views.strip import HEIGHT, STEP, legend, strip
from tests.rows import NOON


def ticks(*verdicts: Verdict | None) -> list[Mark]:
    return [Mark(NOON + n * timedelta(minutes=1), verdict, 0.0, 1.0) for n, verdict in enumerate(verdicts)]


def strokes(d: str) -> list[tuple[int, int, int]]:
    """Where each stroke of a path is, in whole: column, top, bottom."""
    x = y = 0
    found = []
    for letter, first, second in re.findall(r"([Mmv])(-?\d+)(?: ?(-?\d+))?", d):
        if letter == "M":
            x, y = int(first), int(second)
        elif letter == "m":
            x, y = x + int(first), y + int(second)
        else:
            found.append((x, y, y + int(first)))
            y += int(first)
    return found


def columns(d: str) -> list[int]:
    return sorted({x // STEP for x, _, _ in strokes(d)})


def test_each_tick_has_a_place_of_its_own_and_the_newest_is_on_the_right() -> None:
    drawn = strip(ticks(Verdict.RAN, Verdict.FAILED, Verdict.RAN, None), places=6)
    assert drawn.width == 6 * STEP
    assert {path.kind: columns(path.d) for path in drawn.paths} == {
        "ran": [2, 4],
        "failed": [3],
        "running": [5],
    }


def test_a_mark_is_the_same_wherever_it_stands() -> None:
    drawn = strip(ticks(*[Verdict.LOST, Verdict.RAN, Verdict.RAN] * 10), places=50)
    for path in drawn.paths:
        shapes: dict[int, set[tuple[int, int]]] = {}
        for x, top, bottom in strokes(path.d):
            assert 0 <= top < bottom <= HEIGHT
            shapes.setdefault(x, set()).add((top, bottom))
        assert len({frozenset(shape) for shape in shapes.values()}) == 1


def test_no_two_kinds_have_one_shape() -> None:
    shapes = [path.d for path, _ in legend()]
    assert len(set(shapes)) == len(shapes)
    drawn = {path.kind for verdict in (None, *Verdict) for path in strip(ticks(verdict), 1).paths}
    assert drawn == {path.kind for path, _ in legend()}


def test_fifty_ticks_are_some_hundred_characters() -> None:
    drawn = strip(ticks(*[Verdict.RAN, Verdict.FAILED] * 25), places=50)
    assert sum(len(path.d) for path in drawn.paths) < 700


def test_it_says_in_words_what_it_shows() -> None:
    drawn = strip(ticks(Verdict.RAN, Verdict.TIMED_OUT, Verdict.RAN), places=50)
    assert drawn.words == "2 ran, 1 timed out. The newest: ran"
    assert strip([], places=50).words == "No tick so far"
    assert strip([], places=50).paths == ()
