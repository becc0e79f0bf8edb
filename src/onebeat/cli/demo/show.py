"""The demo from start to end: three replicas, a kill in a run, an account."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from onebeat.cli.demo.board import Board, Row
from onebeat.cli.demo.jobs import JOBS, LABELS, LONG_JOB
from onebeat.cli.demo.ledger import read_ledger
from onebeat.cli.demo.reports import read_report
from onebeat.cli.demo.screen import Screen, time_of_day
from onebeat.cli.demo.summary import Summary, account, owed_ticks
from onebeat.cli.replicas import Child, end_children, start_child
from onebeat.clock import SystemClock
from onebeat.engine.signals import on_stop_signals

_START_PATIENCE = timedelta(seconds=30)
_STOP_PATIENCE = 8.0
_INTO_THE_RUN = 0.1  # seconds after its start at which a body is killed
_AFTERMATH = timedelta(seconds=2)  # for which the others are watched after the kill, at least
_LOOK = 0.05  # seconds between looks at the board


class Show:
    """One demo, on files of its own in a temporary folder."""

    def __init__(self, seconds: float, screen: Screen, *, dashboard: Sequence[str] | None = None) -> None:
        """*dashboard*: how to start one beside the replicas, by its further arguments; None for none."""
        self._length = timedelta(seconds=seconds)
        self._screen = screen
        self._dashboard = dashboard
        self._clock = SystemClock()
        self._board = Board(LABELS, {job.id: job.schedule for job in JOBS})
        self._children: dict[str, Child] = {}
        self._listeners: dict[str, asyncio.Task[None]] = {}
        self._interrupted = False

    async def play(self) -> Summary:
        """Raises click.Abort when interrupted, ClickException when a replica ends on its own."""
        # The signals first and last: whenever one comes, the folder is cleared away.
        with on_stop_signals(self._interrupt), TemporaryDirectory(prefix="onebeat-demo-") as folder:
            return await self._play(Path(folder))

    async def _play(self, folder: Path) -> Summary:
        with self._screen.shown():
            try:
                await self._start(folder)
                since = max(self._board.ready_at.values())
                killed_at = await self._kill_one(since + self._length / 2)
                until = await self._end(max(since + self._length, killed_at + _AFTERMATH))
            finally:
                await end_children(list(self._children.values()), _STOP_PATIENCE)
                await asyncio.gather(*self._listeners.values())
            self._screen.show(self._board)
        return account(
            owed_ticks({job.id: job.schedule for job in JOBS}, since=since, until=until),
            read_ledger(folder / "ledger"),
            self._board.refusals,
            killed=self._board.killed,
            leases={job.id: job.lease for job in JOBS},
        )

    async def _start(self, folder: Path) -> None:
        for label in LABELS:
            await self._start_child(label, "onebeat.cli.demo.replica", str(folder), label)
        latest = self._clock.now() + _START_PATIENCE
        await self._until(lambda: self._board.ready or self._clock.now() > latest)
        if not self._board.ready:
            raise click.ClickException(f"the replicas did not start within {_START_PATIENCE.seconds} s")
        if self._dashboard is not None:
            await self._start_child("dashboard", "onebeat.cli.demo.dashboard", str(folder), *self._dashboard)

    async def _start_child(self, label: str, module: str, *arguments: str) -> None:
        child = self._children[label] = await start_child(label, ["-m", module, *arguments])
        self._listeners[label] = asyncio.create_task(self._listen(child))

    async def _kill_one(self, earliest: datetime) -> datetime:
        """SIGKILL a replica at the beginning of the first long run due from *earliest* on; when that was."""
        await self._until(lambda: self._long_runs(earliest))
        victim = str(self._long_runs(earliest)[0].winner)
        await self._clock.sleep(_INTO_THE_RUN)
        self._children[victim].send(signal.SIGKILL)
        await self._listeners[victim]
        self._board.note_killed(victim)
        killed_at = self._clock.now()
        self._screen.say(f"{time_of_day(killed_at)} {victim} killed with SIGKILL while it ran {LONG_JOB.id}")
        return killed_at

    async def _end(self, earliest: datetime) -> datetime:
        """Wait for a quiet moment from *earliest* on; that moment, from which no tick is owed any more.

        Late in a second and with nothing running: no tick is cut off by the end, so none can look missed.
        """
        await self._until(
            lambda: (
                self._clock.now() >= earliest
                and self._clock.now().microsecond >= 850_000
                and not self._board.running
            )
        )
        return self._clock.now()

    async def _until(self, true: Callable[[], object]) -> None:
        while not true():
            for label, listener in self._listeners.items():
                if listener.done() and label != self._board.killed:
                    raise click.ClickException(f"{label} ended by itself")
            if self._interrupted:
                raise click.Abort()
            self._screen.show(self._board)
            await self._clock.sleep(_LOOK)

    async def _listen(self, child: Child) -> None:
        async for line in child.lines():
            report = read_report(line)
            if report:
                self._board.note(child.label, report)
            else:
                self._screen.say(f"{child.label}: {line}")

    def _long_runs(self, earliest: datetime) -> list[Row]:
        """Those due from *earliest* on: an older one may end before the signal reaches it."""
        return [
            row
            for row in self._board.running
            if row.tick.job_id == LONG_JOB.id and row.tick.scheduled_at >= earliest
        ]

    def _interrupt(self, _: signal.Signals) -> None:
        self._interrupted = True
