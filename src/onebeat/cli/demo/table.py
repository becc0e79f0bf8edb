"""The demo's live table; rich is imported here, when there is a terminal to draw on."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from onebeat.cli.demo.board import Board, Row
from onebeat.cli.demo.jobs import LABELS
from onebeat.cli.demo.screen import HEADINGS, cells

_ROWS = 16
_AROUND_ROWS = 8  # lines of a terminal that are not rows: title, heading, borders, prompt
_COLOURS = dict(zip(LABELS, ("green", "cyan", "magenta"), strict=True))


class LiveTable:
    """The newest ticks, redrawn in place."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False, redirect_stdout=False)
        self._drawn: object = None

    def shown(self) -> AbstractContextManager[object]:
        return self._live

    def show(self, board: Board) -> None:
        height = max(3, min(_ROWS, self._console.height - _AROUND_ROWS))
        content = (board.states, [cells(row) for row in list(board.rows.values())[-height:]], height)
        if content != self._drawn:
            self._drawn = content
            self._live.update(drawn(board, height), refresh=True)

    def say(self, text: str) -> None:
        self._console.print(Text(text))


def drawn(board: Board, height: int) -> Table:
    """The table of the *height* newest rows, oldest on top."""
    table = Table(
        title=", ".join(board.states),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=True)
    for row in list(board.rows.values())[-height:]:
        table.add_row(*_coloured(row))
    return table


def _coloured(row: Row) -> list[Text]:
    job, tick, winner, skipped, outcome, next_tick = (Text(cell) for cell in cells(row))
    winner.stylize(_COLOURS.get(row.winner or "", "dim"))
    skipped.stylize("dim")
    outcome.stylize("yellow" if row.running else "green" if row.result == "ran" else "bold red")
    return [job, tick, winner, skipped, outcome, next_tick]
