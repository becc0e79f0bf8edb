"""The claim store on PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

from onebeat.errors import ClaimFailed, StoreUnusable
from onebeat.model import LONGEST, Answer, Bid, Release, Replica, checked_duration
from onebeat.stores.postgres.claims import CLAIM, RELEASE
from onebeat.stores.postgres.failures import UNDEFINED_TABLE, failed, sqlstate_of
from onebeat.stores.postgres.schema import Tables
from onebeat.stores.postgres.targets import driver_for
from onebeat.stores.postgres.upgrade import brought_up
from onebeat.stores.postgres.upkeep import DELETE_BELOW_FLOORS, RAISE_FLOORS, REPAIR
from onebeat.stores.postgres.wire import answers, claim_request, release_request

_WAIT = 10.0
"""Seconds to wait for a connection where the caller gave no timeout of its own."""


class PostgresStore:
    """Claims on PostgreSQL 13 or later, by the server's clock.

    *target* is a DSN, a psycopg 3 pool, an asyncpg pool or a SQLAlchemy engine. The tables are made on
    first use, in *schema* or the first of the search path. *tolerance* is how far ahead of the server's
    clock a tick may be won (C-EARLY).
    """

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

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        if not bids:
            return []
        request = claim_request(bids, replica, timeout, self.tolerance)
        # A timeout already spent still gets its answer: the bids may have landed before.
        wait = max(timeout.total_seconds(), 1.0)
        return answers(bids, await self._ask(CLAIM, *request, wait=wait) or "")

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        if releases:
            await self._ask(RELEASE, *release_request(releases, replica))

    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        request = json.dumps({"app": app, "keep": min(keep, LONGEST).total_seconds(), "limit": limit})
        await self._ask(RAISE_FLOORS, request)
        return int(await self._ask(DELETE_BELOW_FLOORS, request) or 0)

    async def repair(self, *, app: str, job_id: str) -> bool:
        request = json.dumps({"app": app, "job_id": job_id})
        return await self._ask(REPAIR, request) != "0"

    async def migrate(self) -> None:
        """Make the tables, or bring them to the version this release knows; harmless when they are.

        Raises StoreUnusable when that cannot be, ClaimFailed when the server cannot answer.
        """
        await brought_up(self._driver, self._tables, wait=_WAIT)
        self._ready = True

    async def close(self) -> None:
        await self._driver.close()

    async def _ask(self, sql: str, *texts: str, wait: float = _WAIT) -> str | None:
        try:
            if not self._ready:
                await self.migrate()
            return await self._driver.fetch(self._tables.into(sql), *texts, wait=wait)
        except self._driver.errors as error:
            # Tables that are gone, a restored database, say, are made again by whoever asks next.
            self._ready = sqlstate_of(error) != UNDEFINED_TABLE
            raise failed(error, self.label) from error
        except StoreUnusable as error:
            # Costs its ticks and no more: whoever grants what is missing need not restart anything.
            raise ClaimFailed(str(error)) from error
