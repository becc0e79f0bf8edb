"""All alarms of one scheduler, and what serves them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from onebeat.alarms import alarm_side
from onebeat.alerts.alarm import Alarm, checked_alarms
from onebeat.alerts.deliveries import Deliveries
from onebeat.alerts.monitors import Monitors
from onebeat.alerts.watch import Watch
from onebeat.clock import Clock
from onebeat.errors import InvalidSetting
from onebeat.events import Observer
from onebeat.fleet import fleet_side
from onebeat.history import history_side


class Alerts:
    """Raises InvalidSetting for what is no alarm, and for alarms that *store* cannot tell of."""

    def __init__(self, alarms: Iterable[Alarm], store: object, observe: Observer) -> None:
        self._alarms = checked_alarms(alarms)
        self._store = store
        self._observe = observe
        self._deliveries = Deliveries(observe)
        self._judged = any(alarm.judged for alarm in self._alarms)
        sides = fleet_side(store), history_side(store), alarm_side(store)
        if self._judged and None in sides:
            expected = "monitors alone: to judge takes a store with a heartbeat and a history"
            raise InvalidSetting("alarms", self._alarms, expected)

    @property
    def observers(self) -> tuple[Observer, ...]:
        """What must hear of events."""
        return (Monitors(self._alarms, self._observe), self._deliveries) if self._alarms else ()

    def watch(
        self, app: str, clock: Clock, *, identity: Callable[[], str], knows: Callable[[str], bool]
    ) -> Watch | None:
        """What judges them; None when there is nothing to judge."""
        history, book = history_side(self._store), alarm_side(self._store)
        if not self._judged or history is None or book is None:
            return None
        return Watch(
            self._alarms,
            history,
            book,
            self._deliveries,
            app=app,
            identity=identity,
            knows=knows,
            clock=clock,
            observe=self._observe,
        )
