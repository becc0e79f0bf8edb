"""`H` in a field of a cron text: a value drawn from the job's id, which spreads the load (S-MORE)."""

from __future__ import annotations

import re

from onebeat.schedules.fields import MONTHDAY, Kind, Misread

_HASHED = re.compile(r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(\d{1,2}))?", re.ASCII | re.IGNORECASE)
# A day that every month has: drawn from all 31, one job in eleven would miss some months.
_LAST_MONTHDAY = 28


def has_hash(word: str) -> bool:
    """Whether a part of the field *word* is drawn from the job's id."""
    return any(part[:1] in ("H", "h") for part in word.split(","))


def drawn(word: str, kind: Kind, job_id: str) -> str:
    """The field *word* with its `H` drawn for *job_id*, each kind of field for itself. Raises Misread."""
    if not has_hash(word):
        return word
    from hashlib import sha256  # slow to import, and rarely needed

    digest = sha256(f"{job_id}\0{kind.name}".encode()).digest()
    number = int.from_bytes(digest[:8])
    return ",".join(
        _drawn(part, kind, number) if part[:1] in ("H", "h") else part for part in word.split(",")
    )


def _drawn(part: str, kind: Kind, number: int) -> str:
    found = _HASHED.fullmatch(part)
    if found is None:
        raise Misread(0, part, "H, H/15, H(0-29) or H(0-29)/10")
    low, high = kind.low, _LAST_MONTHDAY if kind is MONTHDAY else kind.high
    if found[1] is not None:
        low, high = int(found[1]), int(found[2])
        if not kind.low <= low <= high <= kind.high:
            raise Misread(0, part, f"a range that rises within {kind.low}-{kind.high}")
    if found[3] is None:
        return str(low + number % (high - low + 1))
    step = int(found[3])
    if step < 1:
        raise Misread(0, part, "a step of one or more")
    return f"{low + number % min(step, high - low + 1)}-{high}/{step}"
