"""The store on PostgreSQL, all its sides joined."""

from __future__ import annotations

from onebeat.stores.postgres.alarms import Alarms
from onebeat.stores.postgres.control import Control
from onebeat.stores.postgres.fleet import Fleet
from onebeat.stores.postgres.health import Health
from onebeat.stores.postgres.permits import FleetPermits
from onebeat.stores.postgres.transaction import Transacting


class PostgresStore(Fleet, Transacting, Control, FleetPermits, Alarms, Health):
    """Claims on PostgreSQL 13 or later, by the server's clock.

    *target* is a DSN, a psycopg 3 pool, an asyncpg pool, a SQLAlchemy engine or Django's connection. The
    tables are made on first use, in *schema* or the first of the search path. *tolerance* is how far ahead
    of the server's clock a tick may be won (C-EARLY).
    """
