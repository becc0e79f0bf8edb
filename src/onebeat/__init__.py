"""Recurring jobs inside replicated Python services: every tick fires on exactly one replica."""

from importlib import import_module
from typing import TYPE_CHECKING

from onebeat.claims import ClaimStore
from onebeat.clock import Clock, SystemClock
from onebeat.connect import connect
from onebeat.engine.job import Job
from onebeat.engine.limit import Limit
from onebeat.engine.run import CancelToken, Run, current_run
from onebeat.errors import (
    AlreadyRan,
    Cancelled,
    ChildFailed,
    ClaimFailed,
    ClaimFailure,
    InvalidJob,
    InvalidSchedule,
    InvalidSetting,
    JobExists,
    LeaseLost,
    OnebeatError,
    ShuttingDown,
    StoreUnusable,
    Superseded,
    TimedOut,
)
from onebeat.model import Outcome, Reason, Tick, Verdict
from onebeat.schedule import Schedule
from onebeat.scheduler import Scheduler
from onebeat.schedules.cron import cron
from onebeat.schedules.every import every
from onebeat.schedules.local import is_local_time
from onebeat.schedules.parse import parse

if TYPE_CHECKING:
    from onebeat.alerts.alarm import Alarm
    from onebeat.alerts.alert import Alert
    from onebeat.alerts.healthchecks import Healthchecks
    from onebeat.alerts.sentry import Sentry
    from onebeat.alerts.webhook import Webhook
    from onebeat.background import Background
    from onebeat.schedules.closed import dates, weekdays
    from onebeat.schedules.daily import daily
    from onebeat.schedules.explain import explain
    from onebeat.schedules.hourly import hourly
    from onebeat.single import run

# Loaded when first asked for: most programs start without them.
_LATER = {
    "Alarm": "onebeat.alerts.alarm",
    "Alert": "onebeat.alerts.alert",
    "Background": "onebeat.background",
    "Healthchecks": "onebeat.alerts.healthchecks",
    "Sentry": "onebeat.alerts.sentry",
    "Webhook": "onebeat.alerts.webhook",
    "daily": "onebeat.schedules.daily",
    "dates": "onebeat.schedules.closed",
    "explain": "onebeat.schedules.explain",
    "hourly": "onebeat.schedules.hourly",
    "run": "onebeat.single",
    "weekdays": "onebeat.schedules.closed",
}

__all__ = [
    "Alarm",
    "Alert",
    "AlreadyRan",
    "Background",
    "CancelToken",
    "Cancelled",
    "ChildFailed",
    "ClaimFailed",
    "ClaimFailure",
    "ClaimStore",
    "Clock",
    "Healthchecks",
    "InvalidJob",
    "InvalidSchedule",
    "InvalidSetting",
    "Job",
    "JobExists",
    "LeaseLost",
    "Limit",
    "OnebeatError",
    "Outcome",
    "Reason",
    "Run",
    "Schedule",
    "Scheduler",
    "Sentry",
    "ShuttingDown",
    "StoreUnusable",
    "Superseded",
    "SystemClock",
    "Tick",
    "TimedOut",
    "Verdict",
    "Webhook",
    "connect",
    "cron",
    "current_run",
    "daily",
    "dates",
    "every",
    "explain",
    "hourly",
    "is_local_time",
    "parse",
    "run",
    "weekdays",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
