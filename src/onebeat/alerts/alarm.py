"""What a user asks to be told of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

from onebeat.alerts.alert import Alert
from onebeat.alerts.healthchecks import Healthchecks
from onebeat.alerts.sentry import Sentry
from onebeat.alerts.webhook import Webhook
from onebeat.errors import InvalidSetting
from onebeat.model import checked_duration, checked_name

Monitor = Healthchecks | Sentry
To = Callable[[Alert], object] | Webhook | Monitor


@dataclass(frozen=True, slots=True)
class Alarm:
    """Tell *to* when something is wrong with a job, or with the jobs whose ids begin with *prefix*.

    silent_for: it has not succeeded for this long (seconds or a timedelta).
    failures: so many of its runs in a row did not end well.
    missed: a tick was missed by all replicas, or lost with the one that ran it.
    to: a function of the Alert, plain or async; a Webhook; or a monitor of runs (Healthchecks, Sentry),
        which is told of every run of one job, judges by itself, and takes none of the above.

    Raises InvalidSetting, or InvalidJob for an id that no job can have.
    """

    job_id: str | None = None
    _: KW_ONLY
    prefix: str | None = None
    silent_for: timedelta | float | None = None
    failures: int | None = None
    missed: bool = False
    to: To

    def __post_init__(self) -> None:
        if (self.job_id is None) == (self.prefix is None):
            raise InvalidSetting("job_id", self.job_id, "either a job's id or prefix=")
        if self.job_id is not None:
            checked_name("job_id", self.job_id)
        elif not isinstance(self.prefix, str):
            raise InvalidSetting("prefix", self.prefix, "the beginning of job ids; empty for all")
        if not isinstance(self.missed, bool):
            raise InvalidSetting("missed", self.missed, "True or False")
        if self.silent_for is not None:
            object.__setattr__(self, "silent_for", checked_duration("silent_for", self.silent_for))
        if self.failures is not None and not _is_count(self.failures):
            raise InvalidSetting("failures", self.failures, "a whole number, one or more")
        if isinstance(self.to, Healthchecks | Sentry):
            self._check_monitored()
        else:
            self._check_destination()

    @property
    def judged(self) -> bool:
        """Whether it has a condition of its own."""
        return self.silent_for is not None or self.failures is not None or self.missed

    def covers(self, job_id: str) -> bool:
        return job_id == self.job_id if self.prefix is None else job_id.startswith(self.prefix)

    def _check_destination(self) -> None:
        if not callable(self.to) and not isinstance(self.to, Webhook):
            raise InvalidSetting("to", self.to, "a function of an Alert, a Webhook, Healthchecks or Sentry")
        try:
            hash(self.to)
        except TypeError:
            raise InvalidSetting(
                "to", self.to, "something hashable: who is told twice is told once"
            ) from None
        if not self.judged:
            raise InvalidSetting("alarm", self, "at least one of silent_for=, failures=, missed=True")

    def _check_monitored(self) -> None:
        if self.job_id is None:
            raise InvalidSetting("prefix", self.prefix, "one job's id: a monitor follows one job")
        if self.judged:
            raise InvalidSetting("alarm", self, "no condition: a monitor judges by itself")


def checked_alarms(alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """*alarms*, each of them one."""
    checked = tuple(alarms)
    for alarm in checked:
        if not isinstance(alarm, Alarm):
            raise InvalidSetting("alarms", alarm, "alarms")
    return checked


def _is_count(got: object) -> bool:
    return isinstance(got, int) and not isinstance(got, bool) and got >= 1
