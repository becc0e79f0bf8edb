"""Pages of the history, cut and continued alike by every store. Cursors are opaque to whoever holds them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from onebeat.errors import InvalidSetting, OnebeatError
from onebeat.history import MOST_MARKS, MOST_ROWS, AuditRecord, JobState, Page, TickRecord, checked_text
from onebeat.model import Tick, checked_instant, checked_name

T = TypeVar("T")


def checked_limit(limit: object) -> int:
    """*limit*, when a page may have so many rows."""
    return _checked_number("limit", limit, MOST_ROWS)


def checked_each(each: object) -> int:
    """*each*, when so many marks of a job may be asked for."""
    return _checked_number("each", each, MOST_MARKS)


def checked_ids(job_ids: Collection[str]) -> list[str]:
    """*job_ids*, each once, when marks of so many may be asked for."""
    if isinstance(job_ids, str) or len(job_ids) > MOST_ROWS:
        raise InvalidSetting("job_ids", len(job_ids), f"a collection of {MOST_ROWS} at most")
    return list(dict.fromkeys(checked_text("job_id", job_id) for job_id in job_ids))


def checked_step(step: timedelta, since: datetime, until: datetime) -> int:
    """The seconds of *step*, when so many stretches may be told."""
    whole, rest = divmod(step, timedelta(seconds=1))
    if rest or whole < 1 or (until - since) / step > MOST_ROWS:
        raise InvalidSetting("step", step, f"whole seconds, of which the time has {MOST_ROWS} at most")
    return whole


def tick_cursor(record: TickRecord) -> str:
    return _cursor("tick", record.tick.scheduled_at.isoformat(), record.tick.job_id)


def tick_after(cursor: str | None) -> Tick | None:
    """The tick that *cursor* continues after; None to begin. Raises InvalidSetting for one not of ours."""
    return _after("tick", cursor, lambda at, job_id: Tick(_name(job_id), _instant(at)))


def job_cursor(state: JobState) -> str:
    return _cursor("job", state.job_id)


def job_after(cursor: str | None) -> str | None:
    """The id of the job that *cursor* continues after."""
    return _after("job", cursor, _name)


def audit_cursor(record: AuditRecord) -> str:
    return _cursor("audit", str(record.number))


def audit_after(cursor: str | None) -> int | None:
    """The number of the audit row that *cursor* continues after."""
    return _after("audit", cursor, _number)


def page(found: Sequence[T], limit: int, cursor: Callable[[T], str]) -> Page[T]:
    """The page of what was found when *limit* and one more were asked for."""
    rows = tuple(found[:limit])
    return Page(rows, cursor(rows[-1]) if len(found) > limit else None)


def prefix_range(prefix: str) -> tuple[str, str]:
    """The first and the last id, in the order of code points, that *prefix* can begin: all between begin so.

    Not LIKE: its wildcards may stand in an id, and an index is no use to it.
    """
    return prefix, prefix + 200 * chr(0x10FFFF)


def _checked_number(field: str, got: object, most: int) -> int:
    if isinstance(got, bool) or not isinstance(got, int) or not 1 <= got <= most:
        raise InvalidSetting(field, got, f"1 to {most}")
    return got


def _cursor(*words: str) -> str:
    return base64.urlsafe_b64encode(json.dumps(words).encode()).decode()


def _after(kind: str, cursor: str | None, position: Callable[..., T]) -> T | None:
    if cursor is None:
        return None
    try:
        _kind, *words = map(_text, json.loads(base64.urlsafe_b64decode(cursor.encode())))
        if _cursor(kind, *words) == cursor:
            return position(*words)
    except (ValueError, TypeError, AttributeError, RecursionError, OnebeatError):
        pass  # whatever it is, it is none of ours
    raise InvalidSetting("after", cursor, f"the `next` of a page of {kind}s")


def _text(word: object) -> str:
    if not isinstance(word, str):
        raise TypeError
    return word


def _name(word: str) -> str:
    return checked_name("job_id", word)


def _instant(word: str) -> datetime:
    return checked_instant("scheduled_at", datetime.fromisoformat(word))


def _number(word: str) -> int:
    number = int(word)
    if not 0 < number < 2**63:
        raise ValueError
    return number
