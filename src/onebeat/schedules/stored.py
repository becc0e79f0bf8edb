"""A schedule from the text that its job was registered with, for whoever has no code of the job."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from onebeat.errors import InvalidSchedule
from onebeat.schedule import Schedule
from onebeat.schedules.closed import Closed, dates, weekdays
from onebeat.schedules.compose import Composable
from onebeat.schedules.cron import HashedCron, cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.fingerprint import LONGEST_TEXT
from onebeat.schedules.hourly import hourly

_MOST_KEPT = 16_384
_KINDS: dict[str, Callable[..., Composable | Closed]] = {
    "cron": cron,
    "every": every,
    "hourly": hourly,
    "daily": daily,
    "dates": dates,
    "weekdays": weekdays,
}
_MOMENT: Callable[..., datetime] = datetime


@lru_cache(maxsize=_MOST_KEPT)
def stored(text: str) -> Schedule | None:
    """The schedule of ours whose `text_of` is *text*; None for one written elsewhere, for a text that was
    cut, and for any other."""
    # No text of ours has a backslash: reading some would only warn.
    if len(text) > LONGEST_TEXT or "\\" in text:
        return None
    try:
        schedule = _schedule(ast.parse(text, mode="eval").body)
    # What the parser raises, what the kinds raise, and what wrong arguments raise.
    except (SyntaxError, ValueError, TypeError, OverflowError, MemoryError, RecursionError):
        return None
    # What it says in other words, or of this machine ("local"), no replica has stored.
    return schedule if repr(schedule) == text else None


def _schedule(node: ast.expr) -> Composable:
    known = _known(node)
    # An unbound H is due at no time: registering a job binds it.
    if isinstance(known, Closed | HashedCron):
        raise _unread(node)
    return known


def _known(node: ast.expr) -> Composable | Closed:
    """What the expression *node* makes: of names, operators and methods these, and no others."""
    match node:
        case ast.Call(ast.Name(name), given, named) if name in _KINDS:
            settings = {_name(each): _constant(each.value) for each in named}
            return _KINDS[name](*map(_constant, given), **settings)
        case ast.BinOp(left, ast.BitOr(), right):
            return _schedule(left) | _schedule(right)
        case ast.BinOp(left, ast.Sub(), right):
            excluded = _known(right)
            return _schedule(left) - (excluded if isinstance(excluded, Closed) else _schedule(right))
        case ast.Call(ast.Attribute(inner, "until"), [end], []):
            return _schedule(inner).until(_instant(end))
        case ast.Call(ast.Attribute(inner, "between"), [start, end], []):
            return _schedule(inner).between(_instant(start), _instant(end))
        case _:
            raise _unread(node)


def _name(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise _unread(keyword.value)
    return keyword.arg


def _constant(node: ast.expr) -> str | int:
    match node:
        case ast.Constant(str() | int() as constant):
            return constant
        case _:
            raise _unread(node)


def _instant(node: ast.expr) -> datetime:
    """An instant as its repr names it."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("datetime"), "datetime"), given, [ast.keyword("tzinfo", zone)]):
            if ast.unparse(zone) != "datetime.timezone.utc":
                raise _unread(zone)
            return _MOMENT(*map(_constant, given), tzinfo=UTC)
        case _:
            raise _unread(node)


def _unread(node: ast.expr) -> InvalidSchedule:
    return InvalidSchedule("schedule", type(node).__name__, "what a schedule of ours is shown as")
