"""One piece of work on its way: from being admitted under an id to its end."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime

from onebeat.engine.body import Body
from onebeat.engine.due import Due
from onebeat.engine.job import Policy
from onebeat.engine.run import CancelToken, Run
from onebeat.errors import Cancelled, TimedOut
from onebeat.model import Tick
from onebeat.schedule import Schedule


@dataclass(slots=True, eq=False)
class Admission:
    """A run, what it runs and under which terms. `due`: its tick is to be won first, in this way;
    `schedule`: the one it comes from, whatever becomes of its job.

    `deadline` and `token` come from whoever asked for it; `context` is theirs too; `unwatch` ends the watch
    over the token.
    """

    run: Run
    body: Body
    policy: Policy
    due: Due | None = None
    schedule: Schedule | None = None
    deadline: datetime | None = None
    token: CancelToken | None = None
    context: Context | None = None
    unwatch: Callable[[], None] = lambda: None

    @property
    def job_id(self) -> str:
        return self.run.job_id

    @property
    def on_loop(self) -> bool:
        """Whether its body runs on the jobs' loop: any other takes a thread, if only to wait for it."""
        return self.body.is_async and self.policy.isolation == "none"

    @property
    def tick(self) -> Tick | None:
        return self.run.tick

    def void(self, now: datetime) -> Cancelled | None:
        """Why this must not begin at *now*; None if it may."""
        if self.run.cause is not None:
            return self.run.cause
        if self.token is not None and self.token.cause is not None:
            return self.token.cause
        if self.deadline is not None and self.deadline <= now:
            return self.overdue()
        return None

    def overdue(self) -> TimedOut:
        return TimedOut(f"its deadline {self.deadline} has passed")
