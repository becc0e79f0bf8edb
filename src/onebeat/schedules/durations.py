"""Go's way of writing a duration: 1h30m, 90s, 1.5h."""

from __future__ import annotations

import re
from fractions import Fraction

from onebeat.errors import InvalidSchedule

_UNITS = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1_000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3_600),
}
_UNITS_HINT = f"the units are {', '.join(_UNITS)}, with no blank between"
_TERM = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|ms|s|m|h)", re.ASCII)
# Go counts a duration in 64-bit nanoseconds and refuses what does not fit.
_LONGEST = Fraction(2**63 - 1, 1_000_000_000)


def read_duration(text: str) -> Fraction:
    """The seconds in *text*, exactly. Raises InvalidSchedule for what Go cannot read."""
    position = 1 if text[:1] in ("+", "-") else 0
    total = Fraction(0)
    while True:
        term = _TERM.match(text, position)
        if term is None:
            raise InvalidSchedule("@every", text, "a duration like 90s, 5m or 1h30m", _UNITS_HINT)
        total += Fraction(term[1].rstrip(".")) * _UNITS[term[2]]
        position = term.end()
        if position == len(text):
            break
    if total > _LONGEST:
        raise InvalidSchedule("@every", text, "less than 292 years")
    return -total if text.startswith("-") else total
