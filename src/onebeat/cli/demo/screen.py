"""Where the demo shows itself: a live table on a terminal, one line a tick into a pipe."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Protocol

import click

from onebeat.cli.demo.board import Board, Row
from onebeat.model import Tick

_LINE = "{:<9}  {:<8}  {:<7}  {:<14}  {:<20}  {}"
HEADINGS = ("job", "tick", "won by", "skipped by", "outcome", "next")


class Screen(Protocol):
    """Shows a board, over and over, and says things beside it."""

    def shown(self) -> AbstractContextManager[object]:
        """While inside, it is on show."""

    def show(self, board: Board) -> None:
        """The board as it stands now."""

    def say(self, text: str) -> None:
        """One line that stays."""


class Lines:
    """One line a tick, once every living replica has said what became of it."""

    def __init__(self, write: Callable[[str], object] = click.echo) -> None:
        self._write = write
        self._done: set[Tick] = set()

    def shown(self) -> AbstractContextManager[object]:
        self._write(_LINE.format(*HEADINGS).rstrip())
        return nullcontext()

    def show(self, board: Board) -> None:
        for row in list(board.rows.values()):
            if row.tick not in self._done and board.told(row):
                self._done.add(row.tick)
                self._write(_LINE.format(*cells(row)))

    def say(self, text: str) -> None:
        self._write(text)


def cells(row: Row) -> tuple[str, ...]:
    """What a row says under HEADINGS; times of day in UTC."""
    return (
        row.tick.job_id,
        time_of_day(row.tick.scheduled_at),
        row.winner or "nobody",
        ", ".join(sorted(row.skipped)),
        row.outcome,
        time_of_day(row.next_at),
    )


def time_of_day(moment: datetime | None) -> str:
    return f"{moment:%H:%M:%S}" if moment else "never"
