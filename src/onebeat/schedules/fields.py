"""One field of a cron text, read into a bitmask."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from onebeat.schedules.rare_days import RareDays

_LARGEST = 2**63 - 1


class Misread(Exception):
    """A field that cannot be read: what was met, how far into the field, and what was expected."""

    def __init__(self, offset: int, got: str, expected: str, hint: str = "") -> None:
        super().__init__(offset, got, expected, hint)
        self.offset, self.got, self.expected, self.hint = offset, got, expected, hint


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What one field of a cron text may say."""

    name: str
    low: int
    high: int
    names: dict[str, int] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        words = [word.upper() for word in self.names]
        return f"{self.low}-{self.high}" + (f" or {words[0]}-{words[-1]}" if words else "")


def _numbered(words: str, first: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


SECOND = Kind("second", 0, 59)
MINUTE = Kind("minute", 0, 59)
HOUR = Kind("hour", 0, 23)
MONTHDAY = Kind("day-of-month", 1, 31)
MONTH = Kind("month", 1, 12, _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1))
WEEKDAY = Kind("day-of-week", 0, 6, _numbered("sun mon tue wed thu fri sat", 0))


class Field(NamedTuple):
    """Bit n of *mask* is set when the value n is allowed.

    *star* tells that the field restricts nothing: written with * or ?, step one. *wild* tells that it
    begins with one of these, whatever the step.
    *rare* are days that depend on the month they are in.
    """

    mask: int
    star: bool = False
    rare: tuple[RareDays, ...] = ()
    wild: bool = False


@lru_cache(maxsize=4096)
def read_field(text: str, kind: Kind, extended: bool) -> Field:
    """What the field *text* allows. Raises Misread."""
    mask, star, rare, offset = 0, False, [], 0
    for part in text.split(","):
        found = _rare(part, kind) if extended else None
        if found is not None:
            rare.append(found)
        else:
            part_mask, part_star = _range_at(offset, part, kind, extended)
            mask |= part_mask
            star |= part_star
        offset += len(part) + 1
    return Field(mask, star, tuple(rare), text[:1] in ("*", "?"))


def _rare(part: str, kind: Kind) -> RareDays | None:
    from onebeat.schedules.rare_days import read_monthday, read_weekday  # few texts have any

    if kind is MONTHDAY:
        return read_monthday(part)
    if kind is WEEKDAY:
        return read_weekday(part, kind.names)
    return None


def _range_at(offset: int, part: str, kind: Kind, extended: bool) -> tuple[int, bool]:
    """The values of one part of a list, which begins *offset* characters into the field."""
    if not part:
        raise Misread(offset, part, f"{kind.expected}, not an empty place in the list")
    try:
        return _range(part, kind, extended)
    except Misread as error:
        raise Misread(offset + error.offset, error.got or part, error.expected, error.hint) from None


def _range(part: str, kind: Kind, extended: bool) -> tuple[int, bool]:
    """The values of *part*, which is `*`, `a` or `a-b`, each with a step or without."""
    span, slash, step_text = part.partition("/")
    step = _number(step_text, len(span) + 1, "a step of one or more") if slash else 1
    if step == 0:
        raise Misread(len(span) + 1, step_text, "a step of one or more")
    if span in ("*", "?"):
        return _bits(kind.low, kind.high, step), step == 1
    first, dash, last = span.partition("-")
    start = _value(first, 0, kind, extended)
    end = start
    if dash:
        end = _value(last, len(first) + 1, kind, extended)
    elif slash:
        end = max(start, kind.high)
    if start <= end:
        mask = _bits(start, end, step)
    elif extended:
        mask = _around(start, end, step, kind)
    else:
        raise Misread(0, part, "a range that rises", "extended=True reads ranges that wrap around")
    return ((mask | mask >> 7) & 0x7F if kind is WEEKDAY else mask), False


def _around(start: int, end: int, step: int, kind: Kind) -> int:
    """A range over the end of the field and on from its beginning: sat-tue, 22-4/2."""
    size = kind.high - kind.low + 1
    if start > kind.high:  # 7 is the Sunday at the other end of the week
        start -= size
    end += size if end < start else 0
    return sum({1 << kind.low + (value - kind.low) % size for value in range(start, end + 1, step)})


def _bits(start: int, end: int, step: int) -> int:
    if step == 1:
        return (2 << end) - (1 << start)
    return sum(1 << value for value in range(start, end + 1, step))


def _value(text: str, offset: int, kind: Kind, extended: bool) -> int:
    named = kind.names.get(text.lower())
    if named is not None:
        return named
    value = _number(text, offset, kind.expected, _hint(text, kind, extended))
    if kind.low <= value <= kind.high:
        return value
    if extended and kind is WEEKDAY and value == 7:
        return value
    raise Misread(offset, text, kind.expected, _hint(text, kind, extended))


def _number(text: str, offset: int, expected: str, hint: str = "") -> int:
    # isdigit is enough for a text known to be ASCII; else ¹ and ٣ would pass for digits.
    if not text.isdigit() or (number := int(text)) > _LARGEST:
        raise Misread(offset, text, expected, hint)
    return number


def _hint(text: str, kind: Kind, extended: bool) -> str:
    if not extended and text[:1] in ("H", "h"):
        return "extended=True reads H"
    if kind not in (MONTHDAY, WEEKDAY):
        return ""
    if extended:
        return "also L, L-3, 15W and LW" if kind is MONTHDAY else "also 7, FRI#2 and FRIL"
    if kind is WEEKDAY and text.isdigit() and int(text) == 7:
        return "Sunday is 0; or extended=True"
    if _rare(text, kind) is not None:
        return "extended=True reads L, W and #"
    return ""
