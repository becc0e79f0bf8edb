"""A body in a transaction whose last statement confirms the claim (F-TX)."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from functools import partial

from onebeat.engine.admission import Admission
from onebeat.engine.backoff import pause_before
from onebeat.engine.body import Body
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.job import Policy
from onebeat.engine.run import Run
from onebeat.engine.tasks import runs_now
from onebeat.engine.threads import Threads
from onebeat.errors import ClaimFailed, InvalidJob, LeaseLost
from onebeat.transactions import Settled, Transaction, TransactionStore, WonClaim, transaction_side


def check_transactional(policy: Policy, body: Body, store: object) -> None:
    """Raise InvalidJob for a transactional job that *store* could not run."""
    if not policy.transactional:
        return
    side = transaction_side(store)
    if side is None:
        raise InvalidJob(
            "transactional",
            True,
            "a store on PostgreSQL, whose transaction it is",
            "give the scheduler a postgresql:// URL, a psycopg pool or a SQLAlchemy engine on psycopg",
        )
    why_not = side.cannot_lend(to_async=body.is_async)
    if why_not is not None:
        kind = "an `async def` body" if body.is_async else "a plain body"
        raise InvalidJob("transactional", True, f"a store that lends a connection to {kind}", why_not)


class Transactions:
    """Bodies in transactions of *store*."""

    def __init__(self, store: TransactionStore, here: Here) -> None:
        self._store = store
        self._here = here
        self._clock = here.clock
        self._timeout = here.settings.claim_timeout.total_seconds()

    def serve(self, admission: Admission) -> bool:
        """Whether this one's body is to run in a transaction: work on demand has no claim to confirm."""
        return admission.policy.transactional and admission.run.fence is not None

    async def call(self, admission: Admission, threads: Threads) -> None:
        """Run the body and commit what it did with its claim, or nothing of it.

        Raises what the body raised, the run's cause when it was cancelled before it was done, and LeaseLost
        when the claim is no longer this run's: in all cases nothing was committed.
        """
        run, task = admission.run, asyncio.current_task()
        claim = _claim_of(run, self._here.replica.app)
        transaction = await self._begun(admission, claim)
        try:
            await _body(admission, threads, transaction)
            run.raise_if_cancelled()
            run.decide()
            await self._commit(transaction, claim)
        finally:
            if runs_now(task):
                # What cannot be cleaned in time is cut; that it took so long changes nothing of the outcome.
                with suppress(ClaimFailed):
                    await bounded(transaction.end, self._timeout, self._clock)
            else:
                transaction.cut()  # the loop has been torn down around it

    async def _begun(self, admission: Admission, claim: WonClaim) -> Transaction:
        """Waiting for a connection can be called off, for a plain body too."""
        run, task = admission.run, asyncio.current_task()
        if not admission.body.is_async and task is not None:
            run.when_cancelled(task.cancel)
        try:
            run.raise_if_cancelled()
            return await self._store.begin(claim, to_async=admission.body.is_async, wait=self._timeout)
        finally:
            if not admission.body.is_async:
                run.when_cancelled(None)

    async def _commit(self, transaction: Transaction, claim: WonClaim) -> None:
        """Whatever was not answered plainly is found out before it is said."""
        try:
            await bounded(transaction.commit, self._timeout, self._clock)
        except ClaimFailed as failure:
            settled = await self._settled(claim)
            if settled is Settled.CONFIRMED:
                return
            if settled is Settled.LOST:
                raise LeaseLost("its claim was taken over: what it did was rolled back") from failure
            if settled is None:
                raise ClaimFailed(
                    "whether its transaction was committed could not be found out: its verdict will tell"
                ) from failure
            raise failure.__cause__ or failure from None

    async def _settled(self, claim: WonClaim) -> Settled | None:
        """None when it cannot be found out within the claim timeout."""
        until = self._clock.monotonic() + self._timeout
        tries = 0
        while (left := until - self._clock.monotonic()) > 0:
            try:
                return await bounded(partial(self._store.settle, claim), left, self._clock)
            except ClaimFailed as error:
                tries += 1
                await self._clock.sleep(pause_before(tries, error.failure, random.random()))
        return None


async def _body(admission: Admission, threads: Threads, transaction: Transaction) -> None:
    run = admission.run
    run.connection = transaction.connection
    try:
        await admission.body.call(run, threads)
    except asyncio.CancelledError:
        if not admission.body.is_async:
            # The loop ends around it: its thread goes on, but no longer on a connection that is given back.
            transaction.cut()
        raise
    finally:
        run.connection = None


def _claim_of(run: Run, app: str) -> WonClaim:
    assert run.tick is not None  # narrows the type: what was claimed is a tick
    return WonClaim(app, run.tick, run.run_id, run.attempt)
