"""All sides of a store whose rules run in this process."""

from __future__ import annotations

from onebeat.stores.sqlite.alarms import Alarms
from onebeat.stores.sqlite.control import Control
from onebeat.stores.sqlite.fleet import Beating
from onebeat.stores.sqlite.health import Health
from onebeat.stores.sqlite.history import History
from onebeat.stores.sqlite.permits import FleetPermits


class EmbeddedStore(Beating, Control, History, FleetPermits, Alarms, Health):
    """What a file and a process's memory have in common: everything but where the rows are."""
