"""CONTRACT who: a claim store decides which replica runs a tick."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from onebeat.model import Answer, Bid, Release, Replica


class ClaimStore(Protocol):
    """Decides which replica runs a tick, for every replica that shares it.

    A store serves one process; after a fork it opens anew and never touches its parent's connections.
    Methods are coroutines of the scheduler's loop and never block it.
    """

    @property
    def label(self) -> str:
        """What people call it in logs: kind and place, without any password."""

    @property
    def loop_bound(self) -> str | None:
        """The kind of pool that ties this store to the running loop; None if any loop will do."""

    @property
    def tolerance(self) -> timedelta:
        """How far ahead of its own clock the store lets a tick be won (C-EARLY)."""

    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        """One answer a bid, in the order of *bids*; at most one bid a job, at most 1,000.

        Of all replicas that share a store and an app, at most one ever wins a tick (C-ONE). With a lease
        the job's watermark decides, whatever its age; without one, the tick's own row above the
        job's floor (C-ORDER). A claim whose holder was declared dead blocks nothing, and what is paused is
        refused (F-PAUSE). Of a bid refused as overlapped or paused the tick's row keeps that verdict,
        provisionally (F-VERDICT). One atomic, sorted, idempotent decision, by the job's own row as it stands
        once locked: the same token asked again changes nothing and gets the same answer (C-TOKEN).
        Nothing is won once more than *timeout* has passed since the decision began: such bids are EXPIRED.
        Raises ClaimFailed when the store cannot answer; then some bids may have landed all the same.
        Cancelled, it gives its connection up rather than back.
        """

    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        """End these claims and record how their runs went. Never touches a claim of another token.

        Raises ClaimFailed when the store cannot answer; asking again is harmless.
        """

    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        """Delete at most *limit* tick rows of *app* older than *keep*, or beyond the newest *most* of their
        job; how many were deleted.

        Raises the jobs' floors first, deletes only below them, never an unreleased claim and never
        the watermark: no pruned tick can be claimed again (D-PRUNE). One replica at a time; for the
        others it is 0 at once. Raises ClaimFailed when the store cannot answer.
        """

    async def repair(self, *, app: str, job_id: str) -> bool:
        """Take a watermark that lies ahead of the store's clock back to the newest tick it has reached.

        Whether there was anything to take back. For people (`onebeat repair`), never called by the engine.
        A tick once won stays won. Raises ClaimFailed when the store cannot answer.
        """

    async def close(self) -> None:
        """Give back what the store opened itself. Pools handed over by the app stay open."""
