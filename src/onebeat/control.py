"""CONTRACT what people ask of the fleet: from any process that reaches the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from onebeat.errors import InvalidJob, InvalidSetting
from onebeat.model import Tick, checked_instant, checked_name


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

    @property
    def scope(self) -> str:
        """As the tables name it: job or prefix."""
        return "job" if self.prefix is None else "prefix"

    @property
    def name(self) -> str:
        """The job's id, or the prefix."""
        return self.job_id or self.prefix or ""

    def __str__(self) -> str:
        if self.job_id is not None:
            return f"job {self.job_id}"
        return f"jobs {self.prefix}…" if self.prefix else "the whole app"


def checked_ask(by: object, reason: object) -> None:
    """Raise InvalidJob unless both are 1 to 200 characters without control characters."""
    checked_name("by", by)
    checked_name("reason", reason)


def checked_until(until: object) -> datetime | None:
    """*until* in UTC. Raises InvalidJob for a naive one."""
    return None if until is None else checked_instant("until", until)


def checked_ahead(until: datetime | None, *, now: datetime) -> None:
    """Raise InvalidSetting for an *until* that *now*, the store's clock, has reached."""
    if until is not None and until <= now:
        raise InvalidSetting("until", until.isoformat(), f"an instant after {now.isoformat()}")


def unknown_job(job_id: str) -> InvalidJob:
    """The error for a job that cannot be triggered."""
    return InvalidJob("job_id", job_id, "a job that some replica has registered", "onebeat status lists them")


def run_in_words(job_id: str, scheduled_at: datetime | None) -> str:
    """The `target` of a cancellation in the audit."""
    job = str(Target(job_id=job_id))
    return job if scheduled_at is None else f"{job} at {scheduled_at.isoformat()}"


def withdrawal(by: str, reason: str) -> str:
    """The note on a tick whose run is to be cancelled, or that nobody had taken up yet."""
    return f"cancelled by {by}: {reason}"


class FleetControl(Protocol):
    """Pause, resume, trigger, cancel (F-PAUSE). Each leaves an audit row: what, by whom, why, when; also one
    that found nothing to do. What is refused leaves none.

    *by* says who asks and *reason* why: texts of 1 to 200 characters, shown in the history. All raise
    ClaimFailed when the store cannot answer, InvalidJob or InvalidSetting for nonsense.
    """

    async def pause(self, target: Target, *, app: str, by: str, reason: str, until: datetime | None) -> None:
        """Refuse every claim of *target* from now on until *until* (aware, ahead; None: until resumed).

        What runs goes on, and what is triggered runs. Ticks that pass meanwhile are never caught up.
        Asked again, the newer *until* holds.
        """

    async def resume(self, target: Target, *, app: str, by: str, reason: str) -> bool:
        """End the pause of exactly this target; whether there was one. Others that cover it stay."""

    async def trigger(self, job_id: str, *, app: str, by: str, reason: str, force: bool) -> Tick:
        """Have the job run once, now, on one of the replicas that have it; the tick that will tell.

        It waits while the job runs, unless *force*: then it overlaps. Never touches the job's schedule: the
        tick lies about now, after the job's other triggers, and on no whole second, where ticks are due.
        Raises InvalidJob for a job that no replica ever registered.
        """

    async def cancel(
        self, job_id: str, *, app: str, by: str, reason: str, scheduled_at: datetime | None
    ) -> Sequence[Tick]:
        """Cancel what runs of the job, or the run of one tick of it, wherever that is; which ticks those
        are. A trigger that nobody has taken up yet is withdrawn."""
