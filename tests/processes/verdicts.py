"""The history that a fleet leaves behind, against the bodies' own ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from onebeat import Tick
from onebeat.history import MOST_ROWS, TickFilter, TickRecord
from onebeat.model import Verdict
from tests.processes.asking import APP, asked
from tests.processes.orders import TIMEOUT
from tests.processes.records import Entry, Mark

_OF_A_RUN = (Verdict.RAN, Verdict.FAILED, Verdict.TIMED_OUT)


def read_history(store_url: str) -> dict[Tick, TickRecord]:
    """Every row, page by page, through the same side that the command line reads."""
    rows: list[TickRecord] = asked(store_url, _all_rows)
    history = {row.tick: row for row in rows}
    assert len(history) == len(rows), "a tick came up twice"
    return history


async def _all_rows(history: Any) -> list[TickRecord]:
    page = await history.ticks(TickFilter(), app=APP, limit=MOST_ROWS)
    rows = list(page.rows)
    while page.next is not None:
        page = await history.ticks(TickFilter(), app=APP, limit=MOST_ROWS, after=page.next)
        rows += page.rows
    return rows


def unaccounted(owed: Collection[Tick], history: Mapping[Tick, TickRecord]) -> list[Tick]:
    """The owed ticks without a verdict, of those that a later won and ended tick of their job has passed;
    and all of a job of which no tick has been won and ended."""
    newest = {tick.job_id: tick for tick in sorted(history) if history[tick].verdict in _OF_A_RUN}
    passed = (tick for tick in owed if tick.job_id not in newest or tick < newest[tick.job_id])
    return sorted(tick for tick in passed if tick not in history or history[tick].verdict is None)


def denied(ledger: Sequence[Entry], history: Mapping[Tick, TickRecord]) -> list[tuple[Tick, Verdict]]:
    """Verdicts that the ledger denies: of a run whose body its replica never began, of none where somebody
    did, "ran" of a body that has not ended, anything but that of one that ended in time, not cancelled.

    "lost" alone is never denied here: a replica may die between the end of a body and its release."""
    tales: dict[Tick, list[Entry]] = defaultdict(list)
    for entry in ledger:
        tales[entry.tick].append(entry)
    return [
        (tick, row.verdict)
        for tick, row in history.items()
        if row.verdict is not None and not _agree(tales[tick], row.verdict, row.replica)
    ]


def _agree(tale: list[Entry], verdict: Verdict, replica: str | None) -> bool:
    began = {entry.replica: entry.stamp for entry in tale if entry.mark is Mark.START}
    ended = {entry.replica: entry for entry in tale if entry.mark is Mark.END}
    if verdict in _OF_A_RUN and replica not in began:
        return False
    match verdict:
        case Verdict.LOST:
            return True
        case Verdict.RAN:
            return replica in ended
        case Verdict.TIMED_OUT | Verdict.FAILED | Verdict.CANCELLED:
            # A body that ends with its timeout may not have heard of it.
            late = timedelta(seconds=TIMEOUT) if verdict is Verdict.TIMED_OUT else timedelta.max
            return all(end.cause or end.stamp - began[name] >= late for name, end in ended.items())
        case _:
            return not began


def lost(history: Mapping[Tick, TickRecord]) -> set[Tick]:
    """What the survivors found lost."""
    return {tick for tick, row in history.items() if row.verdict is Verdict.LOST}


def assert_accounted(owed: Collection[Tick], ledger: Sequence[Entry], store_url: str, log: str) -> None:
    """F-VERDICT: every tick owed has its one verdict, and none of them is denied by the ledger; nothing is
    lost, for nobody has been declared dead."""
    history = read_history(store_url)
    assert unaccounted(owed, history) == [], log
    assert denied(ledger, history) == [], log
    assert lost(history) == set(), log
