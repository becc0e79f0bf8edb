"""CONTRACT how effects and claim become one: a body works in a transaction that commits with its claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, cast

from onebeat.model import Tick


@dataclass(frozen=True, slots=True)
class WonClaim:
    """The claim that a transaction is to confirm: whose it is, for which tick, and which attempt at it."""

    app: str
    tick: Tick
    token: str
    attempt: int


class Settled(StrEnum):
    """What became of a claim whose confirmation failed, or was never answered."""

    CONFIRMED = "confirmed"  # it was committed, with all the body wrote
    WITHDRAWN = "withdrawn"  # it was not, and can no more be
    LOST = "lost"  # nor was it; the claim is another's by now, or ended


class Transaction(Protocol):
    """An open transaction, lent to a body."""

    @property
    def connection(self) -> Any:
        """What the body works on."""

    async def commit(self) -> None:
        """Confirm the claim and commit, in one message: both or neither.

        Raises whatever the driver raises; then `TransactionStore.settle` tells what became of it. Cancelled,
        it cuts the connection; then too.
        """

    async def end(self) -> None:
        """Undo what was not committed, and give the connection back clean, or closed where it cannot be
        cleaned. Never raises."""

    def cut(self) -> None:
        """Break the connection under whoever still works on it, from any thread."""


class TransactionStore(Protocol):
    """The side of a store whose database can be the bodies' own (F-TX)."""

    def cannot_lend(self, *, to_async: bool) -> str | None:
        """Why an `async def`, or a plain, body gets no connection here; None when it does."""

    async def begin(self, claim: WonClaim, *, to_async: bool, wait: float) -> Transaction:
        """A transaction on a connection of its own, of the kind such a body can use. Locks nothing.

        *wait* is how many seconds a connection may take once there is room for one. Raises whatever the
        driver raises. Cancelled, it leaves nothing behind.
        """

    async def settle(self, claim: WonClaim) -> Settled:
        """What became of *claim*; once answered, no confirmation that is still on its way can land.

        Raises ClaimFailed when the store cannot answer; asking again is harmless.
        """


_METHODS = ("cannot_lend", "begin", "settle")


def transaction_side(store: object) -> TransactionStore | None:
    """*store* as a TransactionStore; None for one whose database no body can share."""
    has_all = all(callable(getattr(store, name, None)) for name in _METHODS)
    return cast(TransactionStore, store) if has_all else None
