"""Events as records of the standard library's logging (T-LOG). docs/reference/logs.md lists them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from logging import INFO, WARNING
from typing import Any

from onebeat.events import Event, ForkIgnored, SchedulerStarted, SchedulerStopped, SchedulerStopping
from onebeat.observers.alarm_logs import AlarmLogs
from onebeat.observers.fleet_logs import FleetLogs
from onebeat.observers.job_logs import JobLogs
from onebeat.observers.records import Records, counted, named
from onebeat.observers.store_logs import StoreLogs


class LogObserver:
    """Speaks of what people must know, once per cause; everything else is DEBUG.

    A record about one job names its id in the message and carries it as `onebeat_job`.
    """

    inline = True

    def __init__(self, logger: logging.Logger | None = None) -> None:
        records = Records(logger or logging.getLogger("onebeat"))
        self._records = records
        own: dict[type[Any], Callable[[Any], None]] = {
            SchedulerStarted: self._started,
            SchedulerStopping: self._stopping,
            SchedulerStopped: self._stopped,
            ForkIgnored: self._fork_ignored,
        }
        kinds = (JobLogs(records), StoreLogs(records), FleetLogs(records), AlarmLogs(records))
        self._topics = (own, *(kind.speakers for kind in kinds))

    def __call__(self, event: Event) -> None:
        for speakers in self._topics:
            speak = speakers.get(type(event))
            if speak is not None:
                speak(event)

    def _started(self, event: SchedulerStarted) -> None:
        replica, jobs = event.replica, event.jobs
        self._records.say(
            INFO,
            "replica %r of app %r started: store %s, %s%s, first due %s",
            replica.label,
            replica.app,
            event.store or "none",
            counted(len(jobs), "job"),
            f" ({named(jobs)})" if jobs else "",
            event.first_due.isoformat() if event.first_due else "never",
            app=replica.app,
            replica=replica.label,
            replica_id=replica.id,
        )
        chosen = set(event.every_replica)
        fallen_back = [job_id for job_id in jobs if job_id not in chosen]
        if event.store is None and fallen_back:
            self._records.say(
                WARNING,
                "no store: every replica runs every tick of %s (%s); "
                "give a store, or on_every_replica=True where that is meant",
                counted(len(fallen_back), "job"),
                named(fallen_back),
                app=replica.app,
                replica=replica.label,
            )

    def _stopping(self, event: SchedulerStopping) -> None:
        running = event.running
        what = f"{counted(len(running), 'run')} cancelled: {named(running)}" if running else "nothing runs"
        self._say_of(event, INFO, f"is stopping, {what}")

    def _stopped(self, event: SchedulerStopped) -> None:
        if not event.outlived:
            self._say_of(event, INFO, "has stopped")
            return
        left = f"{counted(len(event.outlived), 'run')} not ended: {named(event.outlived)}"
        self._say_of(event, WARNING, f"has stopped, {left}")

    def _fork_ignored(self, event: ForkIgnored) -> None:
        self._say_of(event, WARNING, "was copied by a fork: the copy fires nothing; start a scheduler here")

    def _say_of(
        self, event: SchedulerStopping | SchedulerStopped | ForkIgnored, level: int, what: str
    ) -> None:
        replica = event.replica
        self._records.say(level, "replica %r %s", replica.label, what, app=replica.app, replica=replica.label)
