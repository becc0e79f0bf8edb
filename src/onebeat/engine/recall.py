"""What a server may not know of this replica's claims is told again: after its death, after a failover."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, zip_longest
from typing import TypeVar, cast

from onebeat.claims import ClaimStore
from onebeat.engine.bounded import bounded
from onebeat.engine.here import Here
from onebeat.engine.members import Members
from onebeat.events import FailedOver, ReplicaLapsed
from onebeat.fleet import FleetStore, Held
from onebeat.model import Answer, Bid, Release

T = TypeVar("T")
Ended = tuple[Bid, Release]

_MOST_BIDS = 1_000


class Recall:
    """On the heart's loop, and without waiting for the jobs': one that a job blocks has claims to lose, too.
    *hand* has something called over there."""

    def __init__(self, store: FleetStore, here: Here, members: Members, hand: Callable[..., object]) -> None:
        self._store = store
        self._here = here
        self._members = members
        self._hand = hand

    async def take_up(self, *, lapsed: bool, timeline: str | None) -> None:
        """Assert what runs here, after this replica *lapsed*; where another *timeline* goes on, also what
        has ended of late. Say what that came to, and part with what was taken over.

        A claim that the standby never received could be won again there. What has ended comes first: on the
        standby it may still run, and would be in the way of what runs now. Raises ClaimFailed when the store
        cannot answer; then all of it may be done again.
        """
        # In this order: what ends in between is in one of them.
        held = self._members.claims()
        answers = await self._tell_ended(held) if timeline is not None else ()
        kept = await self._ask(partial(self._store.reassert, held, replica=self._here.replica))
        still = tuple(claim.tick for claim, is_kept in zip(held, kept, strict=True) if is_kept)
        lost = tuple(claim.tick for claim, is_kept in zip(held, kept, strict=True) if not is_kept)
        self._hand(self._members.part_with, held, kept)
        if lapsed:
            self._hand(self._here.observe, ReplicaLapsed(self._here.replica, still, lost))
        if timeline is not None:
            won = sum(answer.won for answer in answers)
            # One that is refused and held by nobody was paused, say: it will not have run twice.
            others = (answer.tick for answer in answers if not answer.won and answer.claimed_by is not None)
            self._hand(self._here.observe, FailedOver(timeline, len(still) + won, (*lost, *others)))

    async def _tell_ended(self, held: Sequence[Held]) -> Sequence[Answer]:
        in_use = {claim.token for claim in held}
        ended = [(bid, release) for bid, release in self._members.recent() if bid.token not in in_use]
        answers: list[Answer] = []
        for batch in _batches(ended):
            answers += await self._claim_again(batch)
        return answers

    async def _claim_again(self, ended: Sequence[Ended]) -> Sequence[Answer]:
        """Claim with the same tokens and release: to a server that knows them that changes nothing.

        Without a lease, for what has ended neither waits for others nor stands in their way.
        """
        store, replica = cast(ClaimStore, self._store), self._here.replica
        bids = [replace(bid, lease=None) for bid, _ in ended]
        timeout = self._here.settings.claim_timeout
        answers = await self._ask(partial(store.claim, bids, replica=replica, timeout=timeout))
        won = {answer.token for answer in answers if answer.won}
        releases = [release for bid, release in ended if bid.token in won]
        await self._ask(partial(store.release, releases, replica=replica))
        return answers

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await bounded(ask, self._here.settings.claim_timeout.total_seconds(), self._here.clock)


def _batches(ended: Sequence[Ended]) -> Iterator[Sequence[Ended]]:
    """One tick a job in a statement (C-BATCH), the oldest first, as they were won: each is told with the one
    before it as its job's previous."""
    in_order = sorted(ended, key=lambda told: told[0].tick)
    of_each_job = [list(ticks) for _, ticks in groupby(in_order, key=lambda told: told[0].tick.job_id)]
    for round_ in zip_longest(*of_each_job):
        batch = [told for told in round_ if told is not None]
        for begin in range(0, len(batch), _MOST_BIDS):
            yield batch[begin : begin + _MOST_BIDS]
