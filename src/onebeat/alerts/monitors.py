"""Has monitors hear of the runs of their jobs: an observer."""

from __future__ import annotations

from collections.abc import Sequence

from onebeat.alerts.alarm import Alarm, Monitor
from onebeat.alerts.healthchecks import Healthchecks
from onebeat.alerts.outbox import Outbox, close_all
from onebeat.alerts.sentry import Sentry
from onebeat.events import AlertUndelivered, Event, Observer, RunEnded, RunStarted, SchedulerStopped

# A ping that comes late tells the monitor a wrong time: it is tried again for seconds, not for minutes.
_PAUSES = (1.0, 3.0)
_MOST_WAITING = 100


class Monitors:
    """Each run that starts or ends on this replica is told to the monitors of its job, in order.

    When the scheduler has stopped, what waits gets a moment to be sent.
    """

    inline = False

    def __init__(self, alarms: Sequence[Alarm], observe: Observer) -> None:
        self._of_job: dict[str, list[_Line]] = {}
        for alarm in alarms:
            if alarm.job_id is not None and isinstance(alarm.to, Healthchecks | Sentry):
                self._of_job.setdefault(alarm.job_id, []).append(_Line(alarm.to, observe))

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted | RunEnded):
            for line in self._of_job.get(event.job_id, ()):
                line.outbox.put(event)
        elif isinstance(event, SchedulerStopped):
            close_all(line.outbox for lines in self._of_job.values() for line in lines)


class _Line:
    """The way to one monitor. That it is cut is told once, until something has passed again."""

    def __init__(self, monitor: Monitor, observe: Observer) -> None:
        self._monitor = monitor
        self._observe = observe
        self._cut = False
        self.outbox: Outbox[RunStarted | RunEnded] = Outbox(
            self._send, self._undelivered, pauses=_PAUSES, most_waiting=_MOST_WAITING
        )

    def _send(self, event: RunStarted | RunEnded) -> None:
        self._monitor.send(event)
        self._cut = False

    def _undelivered(self, event: RunStarted | RunEnded, error: BaseException) -> None:
        if not self._cut:
            what = "started" if isinstance(event, RunStarted) else "ended"
            self._observe(AlertUndelivered(event.job_id, f"a run {what}", repr(self._monitor), error))
        self._cut = True
