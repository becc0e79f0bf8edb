"""What is told when an alarm sounds, and when it is over."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum


class Condition(StrEnum):
    """What is wrong with a job."""

    SILENT = "silent"  # it has not succeeded for too long
    FAILURES = "failures"  # too many of its runs in a row did not end well
    MISSED = "missed"  # a tick was missed, or lost with its replica


@dataclass(frozen=True, slots=True)
class Alert:
    """One alarm of one job: raised when `sounding`, else cleared. Of all replicas one delivers it.

    `key` names the alarm and stays the same from the raising to the clearing. `text` says it in words.
    """

    app: str
    job_id: str
    condition: Condition
    sounding: bool
    text: str
    key: str
    at: datetime

    def as_json(self) -> dict[str, object]:
        """Its fields, as JSON has them."""
        return {**asdict(self), "condition": self.condition.value, "at": self.at.isoformat()}
