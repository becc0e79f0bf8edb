"""An error as the history keeps it."""

from __future__ import annotations

import traceback

from onebeat.model import TRACEBACK

_LONGEST_ERROR = 2_000
_LONGEST_TRACEBACK = 6_000


def bounded_text(error: BaseException) -> str:
    """*error* in one bounded piece of text that any database takes: no NUL, no lone surrogate.

    With its traceback, where it was raised; of a long one the end, which is nearest to what went wrong.
    """
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception as unprintable:  # an exception of a user's job may fail even to be printed
        text = f"{type(error).__name__} (its text raised {type(unprintable).__name__})"
    trace = _traceback(error) if error.__traceback__ is not None else ""
    return _clean(text)[:_LONGEST_ERROR] + (TRACEBACK + trace if trace else "")


def _traceback(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(error)
    except Exception:  # again, anything may be in an exception
        return ""
    return _clean("".join(lines).rstrip())[-_LONGEST_TRACEBACK:]


def _clean(text: str) -> str:
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")
