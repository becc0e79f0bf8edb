"""What a replica tells the demo, one JSON line each on its stdout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onebeat.model import Tick


class Kind(StrEnum):
    READY = "ready"
    STARTED = "started"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Report:
    """`at` is when a replica got ready; `tick` is what was started or ended, with which outcome."""

    kind: Kind
    at: datetime | None = None
    tick: Tick | None = None
    outcome: str = ""
    reason: str = ""
    claimed_by: str | None = None

    def line(self) -> str:
        return json.dumps(
            {
                "onebeat": self.kind,
                "at": self.at and self.at.isoformat(),
                "tick": self.tick and [self.tick.job_id, self.tick.scheduled_at.isoformat()],
                "outcome": self.outcome,
                "reason": self.reason,
                "claimed_by": self.claimed_by,
            }
        )


def read_report(line: str) -> Report | None:
    """The report in *line*; None when a replica printed something else."""
    if not line.startswith('{"onebeat":'):
        return None
    fields = json.loads(line)
    at, tick = fields["at"], fields["tick"]
    return Report(
        kind=Kind(fields["onebeat"]),
        at=datetime.fromisoformat(at) if at else None,
        tick=Tick(tick[0], datetime.fromisoformat(tick[1])) if tick else None,
        outcome=fields["outcome"],
        reason=fields["reason"],
        claimed_by=fields["claimed_by"],
    )
