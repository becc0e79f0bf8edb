"""Replicas over time, as drawn."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from onebeat.history import TickRecord
from onebeat.model import Tick, Verdict, Wanted
from onebeat.web.views.timeline import NOT_RUN, Timeline, still_going, timeline
from onebeat.web.views.window import LEFT, RIGHT, Window, window_around, window_back
from tests.rows import NOON, tick

MINUTE = timedelta(minutes=1)
WINDOW = Window(NOON, NOON + timedelta(hours=1), NOON + timedelta(hours=1))

# Also before the window and after it: clocks differ, and runs last.
instants = st.integers(-7_200, 7_200).map(lambda seconds: NOON + timedelta(seconds=seconds))
records = st.builds(
    lambda at, verdict, replica, claimed, started, finished, note: tick(
        "job", at, verdict=verdict, replica=replica, claimed_at=claimed, started_at=started,
        finished_at=finished, note=note,
    ),
    instants,
    st.none() | st.sampled_from(Verdict),
    st.none() | st.sampled_from(("a", "b", "日本", "<b>", "x" * 200)) | st.text(max_size=3),
    st.none() | instants,
    st.none() | instants,
    st.none() | instants,
    st.none() | st.text(),
)  # fmt: skip


def drawn(*rows: TickRecord, unclaimed: tuple[Tick, ...] = (), window: Window = WINDOW) -> Timeline:
    return timeline(rows, unclaimed, window)


@given(st.lists(records, max_size=40), st.lists(instants, max_size=10))
def test_all_that_is_drawn_lies_inside_the_drawing(rows: list[TickRecord], dues: list[datetime]) -> None:
    line = drawn(*rows, unclaimed=tuple(Tick("job", due) for due in dues))
    for bar in line.bars:
        assert bar.width > 0
        assert LEFT <= bar.x < bar.x + bar.width <= RIGHT + 0.05
        assert 0 < bar.y < bar.y + bar.height < line.height
    for sign in line.signs:
        assert LEFT <= sign.x <= RIGHT
        assert 0 < sign.y < line.height


@given(st.lists(records, max_size=40), st.lists(instants, max_size=10))
def test_every_run_is_a_bar_and_every_other_tick_is_told(
    rows: list[TickRecord], dues: list[datetime]
) -> None:
    line = drawn(*rows, unclaimed=tuple(Tick("job", due) for due in dues))
    assert len(line.bars) == sum(row.replica is not None for row in rows)
    told = sum(int(sign.told.split()[0]) if " ticks " in sign.told else 1 for sign in line.signs)
    assert told == len(rows) - len(line.bars) + len(dues)


@given(st.lists(records, max_size=40))
def test_lanes_do_not_overlap_and_every_bar_lies_in_one(rows: list[TickRecord]) -> None:
    line = drawn(*rows)
    for above, below in pairwise(line.lanes):
        assert above.y + above.height <= below.y
    for bar in line.bars:
        assert any(lane.y <= bar.y and bar.y + bar.height <= lane.y + lane.height for lane in line.lanes[:-1])


def test_a_run_is_drawn_where_it_ran_and_as_long_as_it_took() -> None:
    ran = tick(
        "job", NOON, verdict=Verdict.RAN, started_at=NOON + 15 * MINUTE, finished_at=NOON + 45 * MINUTE
    )
    [bar] = drawn(ran).bars
    span = RIGHT - LEFT
    assert (bar.x, bar.width) == (LEFT + span / 4, span / 2)
    assert "30 min" in bar.told
    assert bar.path == "/tick?id=job&at=2027-03-01T12:00:00Z"


def test_a_run_that_goes_on_reaches_to_now() -> None:
    window = Window(NOON, NOON + timedelta(hours=2), NOON + timedelta(hours=1))
    [bar] = drawn(tick("job", NOON), window=window).bars
    assert bar.x + bar.width == window.x(window.now)
    assert bar.badge.word == "running"


def test_a_run_that_ended_before_it_began_by_some_clock_is_thin_where_it_began() -> None:
    skewed = tick("job", NOON, verdict=Verdict.RAN, started_at=NOON + 30 * MINUTE, finished_at=NOON)
    [bar] = drawn(skewed).bars
    assert bar.x == WINDOW.x(NOON + 30 * MINUTE)
    assert 0 < bar.width < 5


def test_ticks_of_one_instant_on_one_replica_are_drawn_below_each_other() -> None:
    same = [tick(f"job {n}", NOON, verdict=Verdict.RAN, finished_at=NOON + 9 * MINUTE) for n in range(3)]
    line = drawn(*same)
    assert len({bar.y for bar in line.bars}) == 3
    assert [lane.name for lane in line.lanes] == ["a", NOT_RUN]


def test_runs_one_after_the_other_share_a_row() -> None:
    rows = [
        tick("job", NOON + n * MINUTE, verdict=Verdict.RAN, finished_at=NOON + (n + 1) * MINUTE)
        for n in range(9)
    ]
    assert len({bar.y for bar in drawn(*rows).bars}) == 1


def test_each_verdict_is_told_without_colour() -> None:
    """By a sign; and of a bar too thin for it by a pattern and its height: no two kinds look alike."""
    rows = [tick("job", NOON + n * 5 * MINUTE, verdict=verdict) for n, verdict in enumerate(Verdict)]
    line = drawn(*rows, tick("job", NOON + 55 * MINUTE))
    assert len({mark.sign for mark in line.legend}) == len(Verdict) + 1
    patterns = {bar.badge.kind: bar.pattern for bar in line.bars if bar.badge.kind != "missed"}
    assert len(set(patterns.values())) == len(patterns)
    slim = {bar.badge.word for bar in line.bars if bar.height == min(bar.height for bar in line.bars)}
    assert slim == {"ran"}


def test_what_nobody_ran_lies_in_a_lane_of_its_own_in_place() -> None:
    at = NOON + 30 * MINUTE
    missed = tick("job", at, verdict=Verdict.MISSED, replica=None)
    waiting = tick("job", at + 20 * MINUTE, replica=None, wanted=Wanted.RUN, triggered=True)
    line = drawn(missed, waiting, unclaimed=(Tick("job", at + 25 * MINUTE),))
    assert [lane.name for lane in line.lanes] == [NOT_RUN]
    assert [sign.badge.sign for sign in line.signs] == ["○", "…", "◌"]
    assert line.signs[0].x == WINDOW.x(at)


def test_many_of_a_kind_close_to_each_other_are_one_sign_that_says_how_many() -> None:
    rows = [tick("job", NOON + timedelta(seconds=n), verdict=Verdict.PAUSED, replica=None) for n in range(30)]
    [sign] = drawn(*rows).signs
    assert sign.told == "30 ticks paused, the newest at 2027-03-01 12:00:29 UTC"


def test_of_very_many_replicas_those_with_the_oldest_runs_share_a_lane() -> None:
    rows = [tick("job", NOON + n * MINUTE, verdict=Verdict.RAN, replica=f"pod-{n:02}") for n in range(50)]
    line = drawn(*rows)
    names = [lane.name for lane in line.lanes]
    assert names == [*(f"pod-{n}" for n in range(31, 50)), "31 others", NOT_RUN]
    assert len(line.bars) == 50


def test_what_goes_on_into_the_window_is_told_from_what_ended_before_it() -> None:
    early = tick("job", NOON - 5 * MINUTE, verdict=Verdict.RAN, finished_at=NOON - MINUTE)
    late = replace(early, finished_at=NOON + MINUTE)
    running = replace(early, verdict=None, finished_at=None)
    missed = replace(early, replica=None, verdict=Verdict.MISSED)
    assert still_going([early, late, running, missed], NOON, NOON) == [late]
    assert still_going([running], NOON, NOON + MINUTE) == [running]
    skewed = replace(early, started_at=NOON + MINUTE)
    assert still_going([skewed], NOON, NOON) == [skewed], "where it began is where it is drawn"


@given(instants, st.integers(60, 10**9).map(lambda seconds: timedelta(seconds=seconds)))
def test_a_window_back_holds_now_and_moves_in_jumps(now: datetime, length: timedelta) -> None:
    window = window_back(length, now)
    assert window.until - window.since == length
    assert window.since <= now <= window.until <= now + length / 400
    later = window_back(length, window.until - timedelta(microseconds=2))
    assert (later.since, later.until) == (window.since, window.until)


@given(st.lists(records, max_size=5))
def test_a_window_around_ticks_holds_them_all(rows: list[TickRecord]) -> None:
    window = window_around(rows, NOON + timedelta(hours=2))
    assert window.until - window.since >= timedelta(seconds=20)
    assert all(window.since <= row.tick.scheduled_at <= window.until for row in rows)


def test_a_window_around_ticks_moves_in_jumps() -> None:
    """So that what is drawn is not sent again every few seconds."""
    windows = [
        window_around([tick("job", NOON)], NOON + 90 * MINUTE + n * timedelta(seconds=3)) for n in range(100)
    ]
    assert len({(window.since, window.until) for window in windows}) < 35
