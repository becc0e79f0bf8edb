"""CONTRACT how many at once, across the fleet: permits of a limit that all replicas share."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol, cast

from onebeat.model import Replica


def permit_side(store: object) -> Permits | None:
    """*store* as Permits; None for one that hands out none."""
    has_all = all(callable(getattr(store, name, None)) for name in ("take_permit", "return_permit"))
    return cast(Permits, store) if has_all else None


class Permits(Protocol):
    """Hands out at most so many permits of a prefix at a time. Both raise ClaimFailed when the store cannot
    answer, and are safe to ask again with the same token."""

    async def take_permit(
        self, prefix: str, *, most: int, token: str, lease: timedelta, replica: Replica
    ) -> bool:
        """Whether *token* has one of *most* permits of *prefix* now.

        A permit is free again once given back, once *lease* has passed by the store's clock, or once its
        holder was declared dead: such a one has none, and gets none.
        """

    async def return_permit(self, prefix: str, *, token: str, replica: Replica) -> None:
        """Give back what *token* has; harmless when it has nothing."""
