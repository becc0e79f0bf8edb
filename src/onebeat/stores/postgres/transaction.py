"""Transactions for bodies: begun on a connection of their own, confirmed and committed in one message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from onebeat.stores.postgres.asking import Asking
from onebeat.stores.postgres.driver import Hold, Loan, unless_cancelled
from onebeat.transactions import Settled, Transaction, WonClaim

T = TypeVar("T")

# The claim is noted in a setting that ends with the transaction. So the confirmation is one text without
# parameters, which may hold several statements, and finds nothing to confirm once the body has ended the
# transaction itself. The table's full name is asked for now: a body may change its search path.
_BEGIN = """
SELECT format('%I.%I', space.nspname, ticks.relname)
  FROM set_config('onebeat.claim', CAST($1 AS text), true) AS claim
 CROSS JOIN pg_class AS ticks
  JOIN pg_namespace AS space ON space.oid = ticks.relnamespace
 WHERE ticks.oid = CAST(CAST($2 AS text) AS regclass) AND claim <> ''
"""

# One message, so that a client that freezes between confirmation and commit holds no lock on the tick's
# row. Without a row to confirm the division fails, and the server skips the COMMIT behind it.
_CONFIRM = """
SET LOCAL synchronous_commit = on;
WITH claim AS MATERIALIZED (
    SELECT CAST(nullif(current_setting('onebeat.claim', true), '') AS json) AS claim
), confirmed AS (
    UPDATE {ticks} AS tick SET confirmed_at = clock_timestamp()
      FROM claim
     WHERE tick.app = claim->>'app' AND tick.job_id = claim->>'job_id'
       AND tick.scheduled_at = CAST(claim->>'scheduled_at' AS timestamptz)
       AND tick.token = claim->>'token' AND tick.attempt = CAST(claim->>'attempt' AS integer)
       AND tick.verdict IS NULL AND tick.released_at IS NULL AND tick.confirmed_at IS NULL
    RETURNING true
)
SELECT 1 / count(*) FROM confirmed;
COMMIT
"""

# It waits for a confirmation that is being committed, and sees it; one still on its way it forecloses, by
# a verdict that the release replaces.
_SETTLE = """
UPDATE {ticks} AS tick
   SET verdict = CASE WHEN tick.confirmed_at IS NULL AND tick.released_at IS NULL
                      THEN coalesce(tick.verdict, 'failed')
                      ELSE tick.verdict END
  FROM CAST(CAST($1 AS text) AS json) AS claim
 WHERE tick.app = claim->>'app' AND tick.job_id = claim->>'job_id'
   AND tick.scheduled_at = CAST(claim->>'scheduled_at' AS timestamptz)
   AND tick.token = claim->>'token' AND tick.attempt = CAST(claim->>'attempt' AS integer)
RETURNING CASE WHEN tick.confirmed_at IS NOT NULL THEN 'confirmed'
               WHEN tick.released_at IS NULL THEN 'withdrawn'
               ELSE 'lost' END
"""


class Transacting(Asking):
    """See TransactionStore."""

    def cannot_lend(self, *, to_async: bool) -> str | None:
        if to_async in self._driver.lends_to:
            return None
        if not self._driver.lends_to:
            return f"{self._driver.kind} lends none: give a URL, a psycopg pool or an engine on psycopg"
        other = "a plain function" if to_async else "an `async def`"
        return f"{self._driver.kind} serves {other}; a URL serves both kinds"

    async def begin(self, claim: WonClaim, *, to_async: bool, wait: float) -> Transaction:
        transaction = LentTransaction(await _lent(self._driver.lend(to_async=to_async, wait=wait)))
        try:
            await transaction.begin(_request(claim), self._tables.into("{ticks}"))
        except BaseException:
            await transaction.end()
            raise
        return transaction

    async def settle(self, claim: WonClaim) -> Settled:
        return Settled(await self._ask(_SETTLE, _request(claim)) or Settled.LOST)


class LentTransaction:
    """See Transaction."""

    def __init__(self, loan: Loan) -> None:
        self._loan = loan
        self._ticks = ""

    @property
    def connection(self) -> Any:
        return self._loan.connection

    async def begin(self, claim: str, ticks: str) -> None:
        told = await self._cuttable(self._loan.begin(_BEGIN, claim, ticks))
        self._ticks = told or ticks

    async def commit(self) -> None:
        await self._cuttable(self._loan.commit(_CONFIRM.replace("{ticks}", self._ticks)))

    async def end(self) -> None:
        try:
            await self._cuttable(self._loan.undo())
        finally:
            await asyncio.shield(self._loan.give_back())

    def cut(self) -> None:
        self._loan.cut()

    async def _cuttable(self, work: Awaitable[T]) -> T:
        hold = Hold()
        hold.take(self.cut)
        return await unless_cancelled(asyncio.ensure_future(work), hold)


async def _lent(lending: Coroutine[Any, Any, Loan]) -> Loan:
    """Cancelled, what is lent all the same is given back: many a pool would lose it."""
    given_up = False

    async def lend() -> Loan:
        loan = await lending
        if given_up:
            await loan.give_back()
        return loan

    work = asyncio.ensure_future(lend())
    work.add_done_callback(lambda work: work.cancelled() or work.exception())  # seen, if nobody waits
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        given_up = True
        if work.done() and not work.cancelled() and work.exception() is None:
            await work.result().give_back()
        raise


def _request(claim: WonClaim) -> str:
    return json.dumps(
        {
            "app": claim.app,
            "job_id": claim.tick.job_id,
            "scheduled_at": claim.tick.scheduled_at.isoformat(),
            "token": claim.token,
            "attempt": claim.attempt,
        }
    )
