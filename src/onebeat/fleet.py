"""CONTRACT who lives: what the replicas of an app know of each other, and what they are asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, cast

from onebeat.model import Record, Replica, Tick, Wanted

KEPT_FOR_A_RERUN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a replica says of itself when it joins: onebeat's version, its zone data's, its process."""

    version: str
    zone_data: str
    pid: int


@dataclass(frozen=True, slots=True)
class Registration:
    """A job as one replica has it. `schedule` is its readable text; `instants` is a digest of some of its
    due instants, the same wherever the schedule and the zone data agree (F-DRIFT)."""

    job_id: str
    schedule: str
    instants: str


@dataclass(frozen=True, slots=True)
class Registered:
    """What the store knows of a job. `watermark` is the newest tick ever claimed; ticks after
    `owed_since` (UTC) are owed: see `Answer.owed_since`."""

    job_id: str
    watermark: datetime | None
    owed_since: datetime


@dataclass(frozen=True, slots=True)
class Order:
    """One thing wanted. `token` names the claim to be cancelled, and then `reason` says by whom and why;
    `attempt` is the one to be claimed."""

    wanted: Wanted
    tick: Tick
    token: str | None = None
    attempt: int = 1
    forced: bool = False
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Pulse:
    """The store's answer to a beat.

    `skew` is by how many seconds the replica's clock led the store's, the way there included. `dead` says
    that this replica was declared dead meanwhile: it has been away, and joins anew. `healthy` says that it
    has beaten without a gap for a whole time to live, and may judge; `suspects` that somebody has not;
    `lapse_in` in how many seconds the one of the others who has been silent longest will not have.
    `living` are the ids of the replicas not declared dead, this one included. `orders` are what this
    replica may take up: runs and reruns of any job of the app, cancellations of its own claims.
    `timeline` is the server's, where it has one: it changes when a standby takes over.
    """

    store_time: datetime
    skew: float
    dead: bool
    healthy: bool
    suspects: bool
    living: tuple[str, ...]
    orders: tuple[Order, ...] = ()
    timeline: str | None = None
    lapse_in: float | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A claim that a replica still runs under. `lease` as in its bid."""

    tick: Tick
    token: str
    lease: timedelta | None


@dataclass(frozen=True, slots=True)
class Buried:
    """A claim whose holder was declared dead, and whose tick is lost."""

    tick: Tick
    attempt: int


_METHODS = ("join", "beat", "bury", "reassert", "record", "leave", "asked")


def fleet_side(store: object) -> FleetStore | None:
    """*store* as a FleetStore; None for one that only decides claims: then leases alone end what the dead
    held, and nothing but what is released has a verdict."""
    has_all = all(callable(getattr(store, name, None)) for name in _METHODS)
    return cast(FleetStore, store) if has_all else None


class FleetStore(Protocol):
    """The heartbeat's side of a store. All methods raise ClaimFailed when the store cannot answer; all are
    safe to ask again, and may be called on another loop than the jobs' unless the store is bound to that."""

    @property
    def loop_bound(self) -> str | None:
        """As ClaimStore says."""

    async def join(
        self, registrations: Sequence[Registration], *, replica: Replica, facts: Facts, now: datetime
    ) -> Sequence[Registered]:
        """Make *replica* known, with these jobs beside those it had: one statement for any number.

        *now* is its own clock. A job never seen before is owed from the store's time on; one whose schedule's
        text is another than the one stored, likewise. What the store knows of each, in their order.
        """

    async def beat(self, *, replica: Replica, now: datetime, ttl: timedelta) -> Pulse:
        """Renew *replica*'s row unless it was declared dead (F-BEAT). *now* is its own clock.

        A beat more than *ttl* after the one before starts its health anew (F-JUDGE).
        """

    async def bury(self, *, replica: Replica, ttl: timedelta) -> Sequence[Buried]:
        """Declare dead whoever of the app has not beaten for *ttl*, provided *replica* has been healthy for
        a whole *ttl*, by the store's clock; and give the verdict on what the dead held.

        An unreleased claim of theirs is lost and released (one confirmed by a transaction has run).
        A lost tick that may be rerun is wanted so while no later tick of its job was claimed; its lease goes
        on for `KEPT_FOR_A_RERUN`, so that none is before somebody has heard of it.
        """

    async def reassert(self, claims: Sequence[Held], *, replica: Replica) -> Sequence[bool]:
        """Take these claims up again after *replica* was declared dead or the server was replaced: whether
        each is still this replica's. One is not once another claim of its job or tick was won meanwhile."""

    async def record(self, records: Sequence[Record], *, replica: Replica) -> None:
        """Write verdicts on ticks that nobody holds. One that has a row keeps it, but for a provisional
        verdict, which `missed` alone does not replace."""

    async def leave(self, *, replica: Replica) -> None:
        """*replica* has stopped and holds nothing any more. That was its last beat: so it is told from one
        that was declared dead."""

    async def close(self) -> None:
        """As ClaimStore says: on each loop that used the store, what was opened there."""

    async def asked(self, *, app: str) -> None:
        """Return soon after somebody has asked the fleet of *app* for anything: beat then, out of turn.

        A store that cannot tell returns never: what is asked is seen with the next beat.
        """
