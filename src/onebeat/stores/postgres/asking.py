"""What every side of the store on PostgreSQL stands on: one statement out, one text back."""

from __future__ import annotations

from datetime import timedelta

from onebeat.errors import ClaimFailed, ClaimFailure, StoreUnusable
from onebeat.model import checked_duration
from onebeat.stores.postgres.failures import GONE, failed, sqlstate_of
from onebeat.stores.postgres.schema import Tables
from onebeat.stores.postgres.targets import driver_for
from onebeat.stores.postgres.upgrade import are_there, brought_up

_TRIES = 5
_WAIT = 10.0
"""Seconds to wait for a connection where the caller gave no timeout of its own."""


class Asking:
    """The server, reached by the driver that *target* needs; the tables are made on first use."""

    def __init__(
        self, target: object, *, schema: str | None = None, tolerance: float | timedelta = 5
    ) -> None:
        self._driver = driver_for(target)
        self._tables = Tables(schema)
        self.tolerance = checked_duration("tolerance", tolerance)
        self._ready = False

    @property
    def label(self) -> str:
        return self._driver.label

    @property
    def loop_bound(self) -> str | None:
        return self._driver.loop_bound

    async def migrate(self) -> None:
        """Make the tables, or bring them to the version this release knows; harmless when they are.

        Raises StoreUnusable when that cannot be, ClaimFailed when the server cannot answer.
        """
        await brought_up(self._driver, self._tables, wait=_WAIT)
        self._ready = True

    async def close(self) -> None:
        await self._driver.close()

    async def _has_tables(self) -> bool:
        """Whether they are there, for those who only look: whoever looks in the wrong place leaves nothing
        there, and a newer release that looks leaves the tables to the replicas of an older one."""
        try:
            return self._ready or await are_there(self._driver, self._tables, wait=_WAIT)
        except StoreUnusable as error:
            raise ClaimFailed(str(error)) from error

    async def _insist(self, sql: str, *texts: str, makes: bool = True) -> str | None:
        """Ask; again when others were in the way, which at some isolation levels is nobody's fault."""
        for _ in range(_TRIES - 1):
            try:
                return await self._ask(sql, *texts, makes=makes)
            except ClaimFailed as error:
                if error.failure is not ClaimFailure.CONFLICT:
                    raise
        return await self._ask(sql, *texts, makes=makes)

    async def _ask(self, sql: str, *texts: str, wait: float = _WAIT, makes: bool = True) -> str | None:
        """The answer; *makes*: the tables are made first, or brought to this release's version."""
        try:
            if makes and not self._ready:
                await self.migrate()
            return await self._driver.fetch(self._tables.into(sql), *texts, wait=wait)
        except self._driver.errors as error:
            # Tables or functions that are gone, in a restored database, say, are made again by whoever asks
            # next.
            self._ready = sqlstate_of(error) not in GONE
            raise failed(error, self.label) from error
        except StoreUnusable as error:
            # Costs its ticks and no more: whoever grants what is missing need not restart anything.
            raise ClaimFailed(str(error)) from error
