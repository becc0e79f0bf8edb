"""Where each replica begins when many bids are due at one instant."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_WORTH_SHARING = 100
_SHARES = 4


def own_share_first(bids: list[T], replica_id: str, *, most: int) -> tuple[list[T], list[T]]:
    """*bids*, all in one order on every replica, as those this replica bids for first and the rest.

    Rivals that all began with the same thousand would win and wait in step: one would run everything, and
    begin when its whole statement is done. Begun at a share of each one's own, the first statements are
    short, go side by side and are mostly won. The rest is for what nobody else has taken: a replica alone
    takes all of it, one statement later. A share never exceeds *most*, a statement's worth.
    """
    if len(bids) < _WORTH_SHARING:
        return bids, []
    shares = max(_SHARES, -(-len(bids) // most))
    size = -(-len(bids) // shares)
    start = int(replica_id[:8], 16) % shares * size
    end = start + size
    return bids[start:end], bids[end:] + bids[:start]
