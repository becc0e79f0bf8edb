"""Lateness and duration over time, as drawn."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.history import TickRecord
from onebeat.model import Verdict
from onebeat.web.views.plots import BOTTOM, TOP, duration, lateness, nearest, plot
from onebeat.web.views.window import LEFT, RIGHT, Window
from tests.rows import NOON, tick

WINDOW = Window(NOON, NOON + timedelta(hours=1), NOON + timedelta(hours=1))
seconds = st.floats(-1e5, 1e6, allow_nan=False)


def late(by: float, verdict: Verdict | None = Verdict.RAN, at: int = 0) -> TickRecord:
    begin = NOON + timedelta(seconds=at)
    return tick("job", begin, verdict=verdict, started_at=begin + timedelta(seconds=by))


@given(st.lists(st.tuples(seconds, st.integers(-9_999, 9_999)), min_size=1, max_size=40))
def test_every_point_lies_inside_the_drawing(lates: list[tuple[float, int]]) -> None:
    """Also those of clocks that differ: before their instant, or after the window."""
    made = plot("Lateness", [late(by, at=at) for by, at in lates], lateness, WINDOW)
    assert made is not None
    points = re.findall(r"M(\S+) (\S+)h0", made.well)
    assert len(points) == len(lates)
    for x, y in points:
        assert LEFT <= float(x) <= RIGHT
        assert TOP <= float(y) <= BOTTOM
    for level in (*made.levels, made.median, made.p95):
        assert TOP <= level.y <= BOTTOM
    assert made.p95.y <= made.median.y, "higher up is more"


def test_what_did_not_end_well_is_a_cross_and_not_a_dot() -> None:
    made = plot("Lateness", [late(1), late(2, Verdict.FAILED), late(3, Verdict.LOST)], lateness, WINDOW)
    assert made is not None
    assert (made.well.count("M"), made.badly.count("M")) == (1, 2)
    assert "l6 6" in made.badly
    assert made.told == "3 runs: median 2.0 s, 95 % within 3.0 s, from 1.0 s to 3.0 s."


def test_runs_without_a_length_are_left_out_and_without_any_there_is_no_plot() -> None:
    running = tick("job", NOON)
    ended = tick("job", NOON, verdict=Verdict.RAN, finished_at=NOON + timedelta(seconds=90))
    assert plot("Duration", [running], duration, WINDOW) is None
    assert plot("Duration", [], duration, WINDOW) is None
    made = plot("Duration", [running, ended], duration, WINDOW)
    assert made is not None
    assert made.median.label == "1 min 30 s"


def test_runs_that_took_no_time_at_all_are_drawn_at_the_bottom() -> None:
    made = plot("Lateness", [late(0), late(0)], lateness, WINDOW)
    assert made is not None
    assert f" {BOTTOM}h0" in made.well


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (2, 2), (19, 19), (20, 19), (100, 95), (101, 96)])
def test_the_95th_percentile_is_the_nearest_rank(count: int, expected: int) -> None:
    assert nearest(range(1, count + 1), 0.95) == expected
