"""CONTRACT what people ask of the fleet: from any process that reaches the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from onebeat.errors import InvalidSetting
from onebeat.model import Tick, checked_name


@dataclass(frozen=True, slots=True)
class Target:
    """What is paused or resumed: one job, all jobs whose ids begin with a prefix, or the whole app.

    Exactly one of them is given: `Target(job_id="nightly")`, `Target(prefix="mail.")`, `Target.app()`.
    Raises InvalidSetting for anything else.
    """

    job_id: str | None = None
    prefix: str | None = None

    def __post_init__(self) -> None:
        if (self.job_id is None) == (self.prefix is None):
            raise InvalidSetting("target", (self.job_id, self.prefix), "either a job_id or a prefix")
        if self.prefix != "":
            checked_name("target", self.job_id if self.prefix is None else self.prefix)

    @classmethod
    def app(cls) -> Target:
        """All jobs of the app."""
        return cls(prefix="")

    def __str__(self) -> str:
        if self.job_id is not None:
            return f"job {self.job_id}"
        return f"jobs {self.prefix}…" if self.prefix else "the whole app"


class FleetControl(Protocol):
    """Pause, resume, trigger, cancel (F-PAUSE). Each leaves an audit row: what, by whom, why, when.

    *by* says who asks and *reason* why: texts of at most 200 characters, shown in the history. All raise
    ClaimFailed when the store cannot answer, InvalidJob or InvalidSetting for nonsense.
    """

    async def pause(self, target: Target, *, app: str, by: str, reason: str, until: datetime | None) -> None:
        """Refuse every claim of *target* from now on until *until* (aware; None: until resumed).

        What runs goes on, and what is triggered runs. Ticks that pass meanwhile are never caught up.
        Asked again, the newer *until* holds.
        """

    async def resume(self, target: Target, *, app: str, by: str, reason: str) -> bool:
        """End the pause of exactly this target; whether there was one. Others that cover it stay."""

    async def trigger(self, job_id: str, *, app: str, by: str, reason: str, force: bool) -> Tick:
        """Have the job run once, now, on one of the replicas that have it; the tick that will tell.

        It waits while the job runs, unless *force*: then it overlaps. Never touches the job's schedule.
        Raises InvalidJob for a job that no replica ever registered.
        """

    async def cancel(
        self, job_id: str, *, app: str, by: str, reason: str, scheduled_at: datetime | None
    ) -> Sequence[Tick]:
        """Cancel what runs of the job, or the run of one tick of it, wherever that is; which ticks those
        are. A trigger that nobody has taken up yet is withdrawn."""
