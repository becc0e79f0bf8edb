"""After a failover: what the server that takes over may not know is told again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from onebeat.claims import ClaimStore
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.members import Members
from onebeat.events import FailedOver
from onebeat.fleet import FleetStore
from onebeat.model import Answer, Bid, Release

There = Callable[..., Awaitable[Any]]


async def recall(store: FleetStore, here: Here, there: There, members: Members, timeline: str) -> None:
    """Assert the claims this replica holds and those it gave back of late, and tell what that came to.

    A claim that the standby never received could be won again there. What has ended comes first: on the
    standby it may still run, and would be in the way of what runs now. Raises ClaimFailed when the store
    cannot answer.
    """
    timeout = here.settings.claim_timeout.total_seconds()
    held = await there(members.claims)
    recent: Sequence[tuple[Bid, Release]] = await there(members.recent)
    answers = await _claim_again(cast(ClaimStore, store), here, recent, timeout)
    kept = await bounded(partial(store.reassert, held, replica=here.replica), timeout, here.clock)
    lost = await there(members.part_with, held, kept)
    won = sum(answer.won for answer in answers)
    # One that is refused and held by nobody was paused, say: it will not have run twice.
    others = (answer.tick for answer in answers if not answer.won and answer.claimed_by is not None)
    await there(here.observe, FailedOver(timeline, sum(kept) + won, (*lost, *others)))


async def _claim_again(
    store: ClaimStore, here: Here, recent: Sequence[tuple[Bid, Release]], timeout: float
) -> Sequence[Answer]:
    """Claim with the same tokens and release: to a server that knows them that changes nothing.

    Without a lease, for what has ended neither waits for others nor stands in their way.
    """
    if not recent:
        return ()
    bids = [replace(bid, lease=None) for bid, _ in recent]
    claiming = partial(store.claim, bids, replica=here.replica, timeout=here.settings.claim_timeout)
    answers = await bounded(claiming, timeout, here.clock)
    won = {answer.token for answer in answers if answer.won}
    releases = [release for bid, release in recent if bid.token in won]
    await bounded(partial(store.release, releases, replica=here.replica), timeout, here.clock)
    return answers
