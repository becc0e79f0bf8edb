"""Has monitors hear of the runs of their jobs: an observer."""

from __future__ import annotations

from collections.abc import Sequence

from onebeat.alerts.alarm import Alarm, Monitor
from onebeat.alerts.healthchecks import Healthchecks
from onebeat.alerts.outbox import Outbox, close_all
from onebeat.alerts.sentry import Sentry
from onebeat.events import AlertUndelivered, Event, Observer, RunEnded, RunStarted, SchedulerStopped


class Monitors:
    """Each run that starts or ends on this replica is told to the monitors of its job, in order.

    When the scheduler has stopped, what waits gets a moment to be sent.
    """

    inline = False

    def __init__(self, alarms: Sequence[Alarm], observe: Observer) -> None:
        self._observe = observe
        self._of_job: dict[str, list[Outbox[RunStarted | RunEnded]]] = {}
        for alarm in alarms:
            if alarm.job_id is not None and isinstance(alarm.to, Healthchecks | Sentry):
                self._of_job.setdefault(alarm.job_id, []).append(self._outbox(alarm.to))

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted | RunEnded):
            for outbox in self._of_job.get(event.job_id, ()):
                outbox.put(event)
        elif isinstance(event, SchedulerStopped):
            close_all(outbox for outboxes in self._of_job.values() for outbox in outboxes)

    def _outbox(self, monitor: Monitor) -> Outbox[RunStarted | RunEnded]:
        def undelivered(event: RunStarted | RunEnded, error: BaseException) -> None:
            what = "started" if isinstance(event, RunStarted) else "ended"
            self._observe(AlertUndelivered(event.job_id, f"a run {what}", repr(monitor), error))

        return Outbox(monitor.send, undelivered)
