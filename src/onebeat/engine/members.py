"""This replica among the others: what a heartbeat means for its jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from onebeat.engine.admitting import Admitting
from onebeat.engine.due import Due
from onebeat.engine.held import HeldClaims
from onebeat.engine.here import Here
from onebeat.engine.job import Job
from onebeat.engine.missed import owed_between
from onebeat.engine.releases import Releases
from onebeat.errors import Cancelled, LeaseLost
from onebeat.events import TicksLost
from onebeat.fleet import Buried, Held, Order, Pulse, Registered
from onebeat.model import Bid, Release, Wanted


class Members:
    """On the jobs' loop, but for `claims` and `recent`: those from any thread, for no beat waits for a job.

    `covered` says from when on the ticker itself hands out a job's ticks; `felt` is told who lives."""

    def __init__(
        self,
        here: Here,
        jobs: Mapping[str, Job],
        *,
        admitting: Admitting,
        held: HeldClaims,
        releases: Releases,
        covered: Callable[[str], datetime | None],
        felt: Callable[[Sequence[str]], object],
    ) -> None:
        self._here = here
        self._jobs = jobs
        self._admitting = admitting
        self._roster = admitting.roster
        self._backlog = admitting.backlog
        self._held = held
        self._releases = releases
        self._covered = covered
        self._felt = felt

    def join(self, registered: Sequence[Registered]) -> None:
        """The store's word on jobs: what they owe from before the ticker took them up is caught up on."""
        for known in registered:
            job = self._jobs.get(known.job_id)
            until = self._covered(known.job_id)
            if job is not None and until is not None and job.policy.catch_up != "none":
                self._catch_up(job, known, until)

    def feel(self, pulse: Pulse) -> None:
        """One beat: who lives, what is asked for, and another try at what is owed."""
        self._roster.know(pulse.living, self._here.replica.id, timedelta(seconds=pulse.skew))
        self._backlog.order(_due(order) for order in pulse.orders if order.wanted is not Wanted.CANCEL)
        for order in pulse.orders:
            if order.wanted is Wanted.CANCEL and order.token is not None:
                self._held.cancel(order.token, Cancelled(order.reason or "cancelled by request"))
        for job_id in self._backlog.job_ids:
            self._admitting.offer(job_id)
        self._felt(pulse.living)

    def mourn(self, buried: Sequence[Buried]) -> None:
        """Others are dead, and these ticks lost with them. What is to run again is asked for now: it never
        will, once a later tick of its job has been claimed."""
        for lost in buried:
            job = self._jobs.get(lost.tick.job_id)
            if job is not None and job.policy.on_lost == "rerun":
                self._admitting.admit(Due(lost.tick, lost.attempt + 1))
        self._here.observe(TicksLost(tuple(lost.tick for lost in buried)))

    def claims(self) -> Sequence[Held]:
        """What runs here under a claim, and what has ended without the store's knowing it yet."""
        claims = {claim.token: claim for claim in (*self._held.all(), *self._releases.owed())}
        return list(claims.values())

    def recent(self) -> Sequence[tuple[Bid, Release]]:
        """What was given back of late, and the bids that had won it."""
        return [
            (Bid(release.tick, token, lease), release)
            for token, (release, lease) in self._releases.recent().items()
        ]

    def part_with(self, claims: Sequence[Held], kept: Sequence[bool]) -> None:
        """Cancel the runs whose claims were taken over, and only those (F-LOST)."""
        self._release_again({claim.token for claim, is_kept in zip(claims, kept, strict=True) if is_kept})
        for claim, is_kept in zip(claims, kept, strict=True):
            if not is_kept:
                self._held.cancel(claim.token, LeaseLost("its claim was taken over meanwhile"))

    def _release_again(self, kept: set[str]) -> None:
        """What has ended while it was being taken up: its release may have come too early to count."""
        in_use = {claim.token for claim in self.claims()}
        told = self._releases.recent()
        for token in (kept - in_use) & told.keys():
            self._releases.release_later(*told[token])

    def _catch_up(self, job: Job, known: Registered, until: datetime) -> None:
        policy = job.policy
        owed = owed_between(
            job.schedule,
            known.watermark,
            known.owed_since,
            until,
            window=policy.catch_up_window,
            most=policy.catch_up_limit if policy.catch_up == "all" else 1,
        )
        self._backlog.owe(job.id, policy, owed)
        self._admitting.offer(job.id)


def _due(order: Order) -> Due:
    return Due(order.tick, order.attempt, order.wanted is Wanted.RUN, order.forced)
