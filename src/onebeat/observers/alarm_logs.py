"""Log records of alarms."""

from __future__ import annotations

from collections.abc import Callable
from logging import ERROR, INFO, WARNING
from typing import Any

from onebeat.events import AlarmCleared, AlarmRaised, AlarmsUnjudged, AlertUndelivered
from onebeat.observers.records import Records


class AlarmLogs:
    """Each is rare, and told once by its very nature."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.speakers: dict[type[Any], Callable[[Any], None]] = {
            AlarmRaised: self._raised,
            AlarmCleared: self._cleared,
            AlertUndelivered: self._undelivered,
            AlarmsUnjudged: self._unjudged,
        }

    def _raised(self, event: AlarmRaised) -> None:
        self._records.say(WARNING, "alarm: %s", event.text, job=event.job_id, reason=event.condition)

    def _cleared(self, event: AlarmCleared) -> None:
        self._records.say(INFO, "alarm over: %s", event.text, job=event.job_id, reason=event.condition)

    def _undelivered(self, event: AlertUndelivered) -> None:
        self._records.say(
            ERROR,
            "%s was not told of job %r (%s): %s",
            event.to,
            event.job_id,
            event.text,
            event.error,
            error=event.error,
            job=event.job_id,
        )

    def _unjudged(self, event: AlarmsUnjudged) -> None:
        self._records.say(
            WARNING,
            "alarms are not judged, the store does not say how the jobs do (%s: %s)",
            event.error.failure.value,
            event.error,
            reason=event.error.failure.value,
        )
