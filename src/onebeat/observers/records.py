"""Log records with fields, and the memory that keeps them to one per cause (T-LOG)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable
from itertools import islice

from onebeat.model import Tick

_MOST_NAMED = 20


class Records:
    """Writes to one logger. Fields become attributes of the record: `job` is `record.onebeat_job`."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._spoken: dict[Hashable, Hashable] = {}

    def heard(self, level: int) -> bool:
        """Whether anybody wants records of this level."""
        return self._logger.isEnabledFor(level)

    def say(
        self,
        level: int,
        message: str,
        *args: object,
        error: BaseException | None = None,
        tick: Tick | None = None,
        **fields: object,
    ) -> None:
        if self.heard(level):
            if tick is not None:
                fields["scheduled_at"] = tick.scheduled_at.isoformat()
            extra = {f"onebeat_{name}": value for name, value in fields.items() if value is not None}
            self._logger.log(level, message, *args, exc_info=error, extra=extra)

    def once(self, level: int, about: Hashable, cause: Hashable) -> int:
        """*level* when *about* has a new cause; DEBUG for as long as the cause stays the same."""
        if self._spoken.get(about) == cause:
            return logging.DEBUG
        self._spoken[about] = cause
        return level

    def over(self, about: Hashable) -> None:
        """All is well with *about* again: the same cause would be news."""
        self._spoken.pop(about, None)


def counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def named(job_ids: Collection[str]) -> str:
    """The ids, as many as fit in a line, in quotes: an id may hold anything that is not a control."""
    text = ", ".join(repr(job_id) for job_id in islice(job_ids, _MOST_NAMED))
    more = len(job_ids) - _MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text
