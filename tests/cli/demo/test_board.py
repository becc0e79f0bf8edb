"""The board tells who won each tick, who skipped it, and what came of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from onebeat.cli.demo.board import Board
from onebeat.cli.demo.reports import Kind, Report, read_report
from onebeat.cli.demo.screen import Lines, cells
from onebeat.cli.demo.summary import Refusal
from onebeat.cli.demo.table import drawn
from onebeat.model import Outcome, Reason, Tick
from onebeat.schedules.every import every

NOON = datetime(2027, 5, 1, 12, tzinfo=UTC)
TICK = Tick("export", NOON)
LATER = Tick("export", NOON + timedelta(seconds=3))

STARTED = Report(Kind.STARTED, tick=TICK)
RAN = Report(Kind.ENDED, tick=TICK, outcome=Outcome.RAN)


def skipped(tick: Tick = TICK, reason: Reason = Reason.CLAIMED, claimed_by: str | None = "alpha") -> Report:
    return Report(Kind.ENDED, tick=tick, outcome=Outcome.SKIPPED, reason=reason, claimed_by=claimed_by)


@pytest.fixture
def board() -> Board:
    board = Board(("alpha", "bravo", "charlie"), {"export": every(seconds=3)})
    for label in ("alpha", "bravo", "charlie"):
        board.note(label, Report(Kind.READY, at=NOON))
    return board


def test_a_row_tells_the_winner_the_skippers_the_outcome_and_the_next_tick(board: Board) -> None:
    board.note("alpha", STARTED)
    board.note("charlie", skipped())
    board.note("alpha", RAN)
    board.note("bravo", skipped())
    assert cells(board.rows[TICK]) == ("export", "12:00:00", "alpha", "bravo, charlie", "ran", "12:00:03")


def test_the_board_is_ready_when_every_replica_is() -> None:
    board = Board(("alpha", "bravo"), {})
    board.note("alpha", Report(Kind.READY, at=NOON))
    assert not board.ready
    board.note("bravo", Report(Kind.READY, at=NOON))
    assert board.ready


def test_what_a_killed_replica_ran_is_lost_and_what_its_lease_refuses_is_blocked(board: Board) -> None:
    board.note("alpha", STARTED)
    board.note_killed("alpha")
    assert board.rows[TICK].outcome == "lost: alpha killed"
    assert board.running == []
    for label in board.alive:
        board.note(label, skipped(LATER, Reason.OVERLAPPED))
    assert cells(board.rows[LATER])[2:5] == ("nobody", "bravo, charlie", "blocked by the lease")


def test_refusals_are_kept_for_the_account(board: Board) -> None:
    board.note("bravo", skipped())
    assert board.refusals == [Refusal(TICK, Reason.CLAIMED, "alpha")]


def test_a_line_is_written_once_when_every_living_replica_has_told(board: Board) -> None:
    written: list[str] = []
    lines = Lines(written.append)
    board.note("alpha", STARTED)
    board.note("bravo", skipped())
    board.note("charlie", skipped())
    lines.show(board)
    assert written == []
    board.note("alpha", RAN)
    lines.show(board)
    lines.show(board)
    assert len(written) == 1
    assert len(written[0]) <= 80


def test_a_dead_replica_is_not_waited_for(board: Board) -> None:
    written: list[str] = []
    board.note("alpha", STARTED)
    board.note_killed("alpha")
    board.note("bravo", skipped())
    board.note("charlie", skipped())
    Lines(written.append).show(board)
    assert len(written) == 1


@pytest.mark.parametrize("report", [STARTED, RAN, skipped(), Report(Kind.READY, at=NOON)])
def test_a_report_survives_the_pipe(report: Report) -> None:
    assert read_report(report.line()) == report


def test_what_is_no_report_is_passed_by() -> None:
    assert read_report("Traceback (most recent call last):") is None


def test_the_table_fits_a_terminal_of_80_columns_and_shows_the_newest_ticks(board: Board) -> None:
    for second in range(0, 60, 3):
        tick = Tick("export", NOON + timedelta(seconds=second))
        board.note("charlie", Report(Kind.STARTED, tick=tick))
        board.note("alpha", skipped(tick))
        board.note("bravo", skipped(tick))
    board.note_killed("charlie")
    console = Console(width=80, file=StringIO(), force_terminal=False)
    with console.capture() as capture:
        console.print(drawn(board, height=4))
    text = capture.get()
    assert "…" not in text
    assert "lost: charlie killed" in text
    assert re.findall(r"export +(\S+)", text) == ["12:00:48", "12:00:51", "12:00:54", "12:00:57"]
    assert "charlie killed" in text.splitlines()[0]
