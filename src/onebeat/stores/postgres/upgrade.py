"""Bring the tables to the version this release knows, once, whoever comes first."""

from __future__ import annotations

import json

from onebeat.errors import ClaimFailed, ClaimFailure, StoreUnusable
from onebeat.stores.postgres.driver import Driver
from onebeat.stores.postgres.failures import UNDEFINED_TABLE, failed, first_line, sqlstate_of
from onebeat.stores.postgres.schema import Tables, migration_sql, newest_version

# The version, and whether no function was dropped.
_STATE = """
SELECT json_build_array(
           (SELECT coalesce(max(version), 0) FROM {migrations}),
           (SELECT bool_and(to_regprocedure(signature) IS NOT NULL)
              FROM json_array_elements_text($1::json) AS signature))::text
"""

_ATTEMPTS = 10

# Under a default of serializable those who waited for the first one still see the database as it was
# before: they fail in one of these ways, look again, and find it done.
_OVERTAKEN = frozenset({"40001", "40P01", "23505", "42P07", "42701", "42P06"})

_NO_PRIVILEGE = frozenset({"42501", "3F000", "25006"})


async def brought_up(driver: Driver, tables: Tables, *, wait: float) -> None:
    """Return when tables and functions are there and current; migrate them first if they are not.

    Raises StoreUnusable when they cannot be, saying what to do; ClaimFailed when the server cannot answer.
    """
    for _ in range(_ATTEMPTS):
        if await _is_current(driver, tables, wait=wait):
            return
        await _apply(driver, tables, wait=wait)
    raise ClaimFailed("the tables are being migrated by others", ClaimFailure.CONFLICT)


async def are_there(driver: Driver, tables: Tables, *, wait: float) -> bool:
    """Whether there are tables, and nothing is made or migrated.

    Raises StoreUnusable when they are of another release, ClaimFailed when the server cannot answer.
    """
    known = newest_version()
    version, _ = await _version(driver, tables, wait=wait)
    if 0 < version < known:
        raise StoreUnusable(
            f"the tables of {driver.label} have schema version {version}, older than {known}, which this "
            "release of onebeat reads: run `onebeat migrate`, or start a replica of this release"
        )
    return version > 0


async def _is_current(driver: Driver, tables: Tables, *, wait: float) -> bool:
    version, is_whole = await _version(driver, tables, wait=wait)
    return version == newest_version() and is_whole


async def _version(driver: Driver, tables: Tables, *, wait: float) -> tuple[int, bool]:
    """Of the tables, 0 where there are none; whether no function was dropped."""
    known = newest_version()
    version, is_whole = await _state(driver, tables, wait=wait)
    if version > known:
        raise StoreUnusable(
            f"the tables of {driver.label} have schema version {version}, newer than {known}, the newest "
            "this release of onebeat knows: upgrade onebeat here"
        )
    return version, is_whole


async def _state(driver: Driver, tables: Tables, *, wait: float) -> tuple[int, bool]:
    try:
        found = await driver.fetch(tables.into(_STATE), json.dumps(tables.functions), wait=wait)
        version, is_whole = json.loads(found or "[0, false]")
        return version, is_whole
    except driver.errors as error:
        if sqlstate_of(error) == UNDEFINED_TABLE:
            return 0, False
        raise _unusable(driver, error) or failed(error, driver.label) from error


async def _apply(driver: Driver, tables: Tables, *, wait: float) -> None:
    try:
        await driver.fetch(migration_sql(tables.schema), wait=wait)
    except driver.errors as error:
        if sqlstate_of(error) not in _OVERTAKEN:
            raise _unusable(driver, error) or failed(error, driver.label) from error


def _unusable(driver: Driver, error: Exception) -> StoreUnusable | None:
    if sqlstate_of(error) not in _NO_PRIVILEGE:
        return None
    return StoreUnusable(
        f"the tables and functions of {driver.label} cannot be made or read by this role "
        f"({first_line(error)}): have one that may run what `onebeat migrate --sql` prints, then grant this "
        "one SELECT, INSERT, UPDATE and DELETE on the tables and EXECUTE on the functions"
    )
