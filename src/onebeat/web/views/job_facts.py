"""What the store knows of one job, as its page needs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from onebeat.history import AuditRecord, JobState, Page, TickRecord
from onebeat.model import Tick
from onebeat.schedule import Schedule
from onebeat.web.views.job_ask import JobAsk
from onebeat.web.views.window import Window


@dataclass(frozen=True, slots=True)
class JobFacts:
    """At *now* by the store's clock.

    `schedule` is None where its text cannot be read here. `newest` are its newest ticks, `running` those that
    run or wait for a replica. `drawn` are the ticks of `window`, and those whose runs reach into it; `cut`
    says that the window is narrower than what was asked for, as more of them are not drawn. `table` is a
    page of the ticks. `unclaimed` are due, and claimed by nobody; `more_unclaimed` says that they are not
    all. `living` replicas there are, of which `having` have registered the job. `pause` is what covered the
    newest tick, where that was paused, `paused` what covers the job now.
    """

    ask: JobAsk
    now: datetime
    job: JobState
    schedule: Schedule | None
    newest: tuple[TickRecord, ...]
    running: tuple[TickRecord, ...]
    window: Window
    drawn: tuple[TickRecord, ...]
    cut: bool
    table: Page[TickRecord]
    unclaimed: tuple[Tick, ...]
    more_unclaimed: bool
    living: int
    having: int
    pause: AuditRecord | None
    paused: AuditRecord | None
