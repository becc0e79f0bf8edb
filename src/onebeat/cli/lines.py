"""Records as lines for people: nothing that a terminal would obey, nothing wider than it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from onebeat.history import TickRecord
from onebeat.insight.words import instant, span, verdict_of

WIDTH = 80


def plain(text: str, width: int = WIDTH) -> str:
    """*text* in one line, in at most *width* cells of a terminal: ids, errors and reasons are anybody's."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    if cells_of(shown) <= width:
        return shown
    if shown.isascii():
        return f"{shown[: max(width - 1, 0)]}…"
    from rich.cells import set_cell_size  # slow to import, and rarely needed

    return f"{set_cell_size(shown, max(width - 1, 0))}…"


def cells_of(text: str) -> int:
    """How many cells of a terminal *text* takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, grows: int = 0) -> list[str]:
    """Columns, of which the one numbered *grows* gives way where the whole is too wide."""
    cells = [list(headings), *([plain(cell, 200) for cell in row] for row in rows)]
    widths = [max(cells_of(row[column]) for row in cells) for column in range(len(headings))]
    others = sum(widths) - widths[grows] + 2 * (len(headings) - 1)
    widths[grows] = max(8, min(widths[grows], WIDTH - others))
    lines = (
        "  ".join(_filled(plain(cell, width), width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return [plain(line.rstrip()) for line in lines]


def _filled(text: str, width: int) -> str:
    return text + " " * (width - cells_of(text))


def tick_cells(record: TickRecord, shown_in: tzinfo = UTC) -> list[str]:
    """Under TICK_HEADINGS."""
    return [
        record.tick.job_id,
        instant(record.tick.scheduled_at, shown_in),
        verdict_of(record),
        plain(record.replica or "-", 14),
        span(record.lateness),
        span(record.duration),
    ]


TICK_HEADINGS = ("job", "scheduled", "verdict", "replica", "late", "took")


def as_json(record: Any) -> dict[str, Any]:
    """A record's fields in full, for --json: instants in ISO 8601, durations in seconds."""
    fields = {name: _jsonable(value) for name, value in asdict(record).items()}
    if isinstance(record, TickRecord):
        tick = fields.pop("tick")
        fields = {**tick, **fields, "lateness": record.lateness, "duration": record.duration}
    return fields


def in_json(told: Any) -> str:
    """*told* as readable JSON in which, too, nothing is left that a terminal would obey."""
    text = json.dumps(told, indent=2, ensure_ascii=False)
    # What is not printable stands inside a string, but for the ends of lines.
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def _jsonable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, dict):
        return {key: _jsonable(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_jsonable(one) for one in value]
    return value
