"""After a failover: what the server that takes over may not know is told again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, cast

from onebeat.claims import ClaimStore
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.members import Members
from onebeat.events import FailedOver
from onebeat.fleet import FleetStore
from onebeat.model import Bid, Release

There = Callable[..., Awaitable[Any]]


async def recall(store: FleetStore, here: Here, there: There, members: Members, timeline: str) -> None:
    """Assert the claims this replica holds and those it gave back of late, and tell what that came to.

    A claim that the standby never received could be won again there. Raises ClaimFailed when the store
    cannot answer.
    """
    timeout = here.settings.claim_timeout.total_seconds()
    held = await there(members.claims)
    kept = await bounded(partial(store.reassert, held, replica=here.replica), timeout, here.clock)
    lost = await there(members.part_with, held, kept)
    recent: Sequence[tuple[Bid, Release]] = await there(members.recent)
    again = await _claim_again(cast(ClaimStore, store), here, recent, timeout)
    told = FailedOver(timeline, sum(kept) + len(recent) - len(again), (*lost, *again))
    await there(here.observe, told)


async def _claim_again(
    store: ClaimStore, here: Here, recent: Sequence[tuple[Bid, Release]], timeout: float
) -> tuple[Any, ...]:
    """Claim with the same tokens and release: to a server that knows them that changes nothing. The ticks
    that others have claimed there."""
    if not recent:
        return ()
    bids = [bid for bid, _ in recent]
    claiming = partial(store.claim, bids, replica=here.replica, timeout=here.settings.claim_timeout)
    answers = await bounded(claiming, timeout, here.clock)
    won = {answer.token for answer in answers if answer.won}
    releases = [release for bid, release in recent if bid.token in won]
    await bounded(partial(store.release, releases, replica=here.replica), timeout, here.clock)
    return tuple(bid.tick for bid in bids if bid.token not in won)
