"""Registering jobs where their functions are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, Unpack

from onebeat.engine.body import Work
from onebeat.engine.job import PolicyKeywords
from onebeat.engine.naming import default_job_id
from onebeat.schedule import Schedule
from onebeat.schedules.cron import cron
from onebeat.schedules.every import every
from onebeat.schedules.wall import ClockChange, Fold, Gap

F = TypeVar("F", bound=Work)


class JobDecorators(ABC):
    """One decorator a kind of schedule. They return the function unchanged and need no loop (J-API)."""

    @abstractmethod
    def add(
        self, job_id: str, schedule: Schedule | str, work: Work, **policy: Unpack[PolicyKeywords]
    ) -> None:
        """Register *work* under *job_id*."""

    def job(
        self, schedule: Schedule | str, *, job_id: str | None = None, **policy: Unpack[PolicyKeywords]
    ) -> Callable[[F], F]:
        """Decorates a function as a job due by *schedule*; its id is its dotted name unless given."""

        def register(work: F) -> F:
            self.add(default_job_id(work) if job_id is None else job_id, schedule, work, **policy)
            return work

        return register

    def cron(
        self,
        text: str,
        *,
        tz: str = "UTC",
        extended: bool = False,
        seconds: bool = False,
        gap: Gap = "skip",
        fold: Fold = "both",
        policy: ClockChange | None = None,
        job_id: str | None = None,
        **keywords: Unpack[PolicyKeywords],
    ) -> Callable[[F], F]:
        """`job` with `onebeat.cron`."""
        schedule = cron(text, tz=tz, extended=extended, seconds=seconds, gap=gap, fold=fold, policy=policy)
        return self.job(schedule, job_id=job_id, **keywords)

    def every(
        self,
        duration: timedelta | float | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        job_id: str | None = None,
        **keywords: Unpack[PolicyKeywords],
    ) -> Callable[[F], F]:
        """`job` with `onebeat.every`."""
        schedule = every(duration, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self.job(schedule, job_id=job_id, **keywords)

    def hourly(
        self,
        *minutes: int,
        tz: str = "UTC",
        gap: Gap = "skip",
        fold: Fold = "both",
        policy: ClockChange | None = None,
        job_id: str | None = None,
        **keywords: Unpack[PolicyKeywords],
    ) -> Callable[[F], F]:
        """`job` with `onebeat.hourly`."""
        from onebeat.schedules.hourly import hourly  # not needed to import onebeat

        return self.job(hourly(*minutes, tz=tz, gap=gap, fold=fold, policy=policy), job_id=job_id, **keywords)

    def daily(
        self,
        hour: int,
        minute: int = 0,
        *,
        tz: str = "UTC",
        gap: Gap = "skip",
        fold: Fold = "both",
        policy: ClockChange | None = None,
        job_id: str | None = None,
        **keywords: Unpack[PolicyKeywords],
    ) -> Callable[[F], F]:
        """`job` with `onebeat.daily`."""
        from onebeat.schedules.daily import daily  # not needed to import onebeat

        schedule = daily(hour, minute, tz=tz, gap=gap, fold=fold, policy=policy)
        return self.job(schedule, job_id=job_id, **keywords)
