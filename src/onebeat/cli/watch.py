"""`onebeat watch [STORE]`"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, timedelta, tzinfo
from typing import Any

import click

from onebeat.cli.fleet_store import (
    FleetView,
    checked_app,
    fleet_options,
    fleet_store,
    split_words,
    time_option,
)
from onebeat.cli.lines import TICK_HEADINGS, plain, table, tick_cells
from onebeat.cli.terminal import on_terminal
from onebeat.clock import SystemClock
from onebeat.errors import ClaimFailed
from onebeat.history import TickFilter, TickRecord
from onebeat.model import Tick

_LOOK = 2.0  # seconds from one look to the next
_ROWS = 15
_BACK = timedelta(minutes=10)


@click.command("watch")
@click.argument("words", metavar="[STORE]", nargs=-1)
@click.option("--seconds", type=click.IntRange(1), help="How long; for ever unless given.")
@time_option
@fleet_options
def command(
    words: tuple[str, ...], seconds: int | None, shown_in: tzinfo, app: str, schema: str | None
) -> None:
    """Watch ticks as they happen: a table on a terminal, into a pipe a line for each verdict.

    The history is read every two seconds. A store that does not answer is said to, and asked again.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, _ = split_words(words, 0, 0, "[STORE]")
    store = fleet_store(store_url, schema)
    asyncio.run(_watch(store, checked_app(app), seconds, shown_in))


async def _watch(store: FleetView, app: str, seconds: int | None, shown_in: tzinfo) -> None:
    clock = SystemClock()
    ends_at = None if seconds is None else clock.monotonic() + seconds
    shown, show = (
        _live_table(shown_in) if on_terminal() else (nullcontext(), Lines(click.echo, shown_in).show)
    )
    try:
        with shown:
            while ends_at is None or clock.monotonic() < ends_at:
                try:
                    which = TickFilter(since=clock.now() - _BACK)
                    page = await store.ticks(which, app=app, limit=200)
                except ClaimFailed as error:
                    click.echo(plain(f"onebeat: {error}", 400), err=True)
                else:
                    show(page.rows)
                left = _LOOK if ends_at is None else ends_at - clock.monotonic()
                await clock.sleep(max(0.0, min(_LOOK, left)))
    finally:
        await store.close()


class Lines:
    """A line for each tick that has a new verdict, the oldest first."""

    def __init__(self, write: Callable[[str], object], shown_in: tzinfo = UTC) -> None:
        self._write = write
        self._shown_in = shown_in
        self._told: dict[Tick, tuple[object, int]] = {}

    def show(self, rows: tuple[TickRecord, ...]) -> None:
        fresh = [row for row in reversed(rows) if self._told.get(row.tick) != (row.verdict, row.attempt)]
        for row in fresh:
            self._told[row.tick] = row.verdict, row.attempt
        known = {row.tick for row in rows}
        self._told = {tick: told for tick, told in self._told.items() if tick in known}
        for line in table(TICK_HEADINGS, (tick_cells(row, self._shown_in) for row in fresh))[1:]:
            self._write(line)


def _live_table(shown_in: tzinfo) -> tuple[Any, Callable[[tuple[TickRecord, ...]], object]]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    live = Live(console=Console(), auto_refresh=False)

    def show(rows: tuple[TickRecord, ...]) -> None:
        cells = (tick_cells(row, shown_in) for row in rows[:_ROWS])
        live.update(Text("\n".join(table(TICK_HEADINGS, cells))), refresh=True)

    return live, show
