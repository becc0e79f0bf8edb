"""Django's connection: not used itself, but its settings, for connections of our own."""

from __future__ import annotations

from typing import Any

from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from onebeat.errors import InvalidSetting
from onebeat.stores.postgres.psycopg_async import OwnPool


class DjangoConnection(OwnPool):
    """`django.db.connection`, or one of `connections`.

    Django's own belongs to a thread, is often in a transaction of the app's, and is closed when Django sees
    fit. Its settings are read when we connect: the runner of Django's tests changes them after the import.
    """

    kind = "Django's connection"

    def __init__(self, connection: Any) -> None:
        if connection.vendor != "postgresql":
            raise InvalidSetting(
                "store",
                f"Django's connection to {connection.vendor}",
                "one to PostgreSQL",
                "give a URL of its own instead: sqlite:////var/lib/shop/jobs.db, say",
            )
        super().__init__("")
        self._connection = connection

    def _conninfo(self) -> str:
        """What of Django's parameters libpq knows; the rest is for Django itself."""
        given = self._connection.get_connection_params()
        known = {option.keyword.decode() for option in Conninfo.get_defaults()}
        parameters = {name: value for name, value in given.items() if name in known}
        role = self._connection.settings_dict["OPTIONS"].get("assume_role")
        if role is not None:
            parameters["options"] = f"{parameters.get('options', '')} -c role={_escaped(role)}".strip()
        return make_conninfo("", **parameters)


def _escaped(role: str) -> str:
    """As libpq's `options` wants it."""
    return role.replace("\\", "\\\\").replace(" ", "\\ ")
