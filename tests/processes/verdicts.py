"""The history that a fleet leaves behind, against the bodies' own ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from onebeat import Tick
from onebeat.connect import connect
from onebeat.history import MOST_ROWS, RunHistory, TickFilter, TickRecord
from onebeat.model import Verdict
from tests.processes.records import Entry, Mark

_OF_A_RUN = (Verdict.RAN, Verdict.FAILED, Verdict.TIMED_OUT)
_OF_NONE = (Verdict.MISSED, Verdict.OVERLAPPED, Verdict.PAUSED, Verdict.EARLY, Verdict.CLAIM_ERROR)


def read_history(store_url: str) -> dict[Tick, TickRecord]:
    """Every row, through the same side that the command line reads."""
    return asyncio.run(_read(store_url))


async def _read(store_url: str) -> dict[Tick, TickRecord]:
    store: Any = connect(store_url)
    history = cast(RunHistory, store)
    rows: dict[Tick, TickRecord] = {}
    after = None
    try:
        while True:
            page = await history.ticks(TickFilter(), app="default", limit=MOST_ROWS, after=after)
            rows |= {row.tick: row for row in page.rows}
            after = page.next
            if after is None:
                return rows
    finally:
        await store.close()


def unaccounted(owed: Collection[Tick], history: Mapping[Tick, TickRecord]) -> list[Tick]:
    """The owed ticks without a verdict, of those that a later won and ended tick of their job has passed."""
    newest: dict[str, Tick] = {}
    for tick in sorted(tick for tick, row in history.items() if row.verdict in _OF_A_RUN):
        newest[tick.job_id] = tick
    passed = (tick for tick in owed if tick.job_id in newest and tick < newest[tick.job_id])
    return sorted(tick for tick in passed if tick not in history or history[tick].verdict is None)


def denied(ledger: Sequence[Entry], history: Mapping[Tick, TickRecord]) -> list[tuple[Tick, Verdict]]:
    """Verdicts that the ledger denies: "ran" of what no body ended, or none of a run of what one began."""
    began = {entry.tick for entry in ledger if entry.mark is Mark.START}
    ended = {entry.tick for entry in ledger if entry.mark is Mark.END}
    wrong = []
    for tick, row in history.items():
        if (row.verdict is Verdict.RAN and tick not in ended) or (row.verdict in _OF_NONE and tick in began):
            wrong.append((tick, row.verdict))
    return wrong


def assert_accounted(owed: Collection[Tick], ledger: Sequence[Entry], store_url: str, log: str) -> None:
    """F-VERDICT: the sum of the verdicts is what was owed, and none of them is denied by the ledger."""
    history = read_history(store_url)
    assert unaccounted(owed, history) == [], log
    assert denied(ledger, history) == [], log
