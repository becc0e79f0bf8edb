"""A registered job and its policy: values, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, TypedDict, get_args

from onebeat.engine.body import Body, Work
from onebeat.errors import InvalidJob
from onebeat.model import LONGEST, checked_duration, checked_name
from onebeat.schedule import Schedule

Duration = timedelta | float
Overlap = Literal["forbid", "queue", "allow"]
CatchUp = Literal["none", "latest", "all"]
OnLost = Literal["skip", "rerun"]
Isolation = Literal["none", "process"]


class PolicyKeywords(TypedDict, total=False):
    """What a job may say of itself, by keyword; durations in seconds or as timedelta.

    timeout: how long a body may run (default: the scheduler's; None: no limit).
    lease_margin: by how much the lease outlasts the timeout (default: the scheduler's).
    lease: the lease itself, in place of timeout + lease_margin.
    overlap: "forbid" (default): a later tick waits for no one but is refused while an earlier runs,
        anywhere; "queue": the newest tick refused so runs once after it; "allow": ticks are judged
        one by one.
    late: skip a tick that would start later than this after its instant (default None: never too late).
    on_every_replica: fire every tick on every replica, and never ask the store.
    catch_up: what is made up for of the ticks that nobody ran, after a stop, a suspend or an outage:
        "none" (default), the "latest" one, or "all" of them, in order (C-CATCH).
    catch_up_window: how far back that reaches (default 1 day); catch_up_limit: how many ticks (default 100).
    on_lost: what becomes of a tick whose replica died in the run: "skip" (default) it, or "rerun" it
        on another replica (C-CRASH).
    isolation: "none" (default), or "process": the body runs in a child process, which can be killed.
    transactional: the body gets a connection in a transaction that commits only with the claim (F-TX).
    jitter: delay each start by up to this, the same for a tick on every replica (S-MORE).
    """

    timeout: Duration | None
    lease_margin: Duration
    lease: Duration
    overlap: Overlap
    late: Duration | None
    on_every_replica: bool
    catch_up: CatchUp
    catch_up_window: Duration
    catch_up_limit: int
    on_lost: OnLost
    isolation: Isolation
    transactional: bool
    jitter: Duration | None


@dataclass(frozen=True, slots=True)
class Policy:
    """How a job's ticks are claimed and run."""

    timeout: timedelta | None = timedelta(hours=1)
    lease_margin: timedelta = timedelta(minutes=1)
    lease: timedelta | None = None
    overlap: Overlap = "forbid"
    late: timedelta | None = None
    on_every_replica: bool = False
    catch_up: CatchUp = "none"
    catch_up_window: timedelta = timedelta(days=1)
    catch_up_limit: int = 100
    on_lost: OnLost = "skip"
    isolation: Isolation = "none"
    transactional: bool = False
    jitter: timedelta | None = None

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise InvalidJob(name, getattr(self, name), " or ".join(f'"{word}"' for word in words))
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InvalidJob(name, getattr(self, name), "True or False")
        limit = self.catch_up_limit
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidJob("catch_up_limit", limit, "a whole number, one or more")
        self._check_claimed()
        if self.transactional and self.isolation == "process":
            raise InvalidJob(
                "transactional", True, 'no isolation="process" beside it', "a connection stays in its process"
            )

    def _check_claimed(self) -> None:
        """What needs a claim makes no sense where every replica runs every tick."""
        if not self.on_every_replica:
            return
        for name in ("catch_up", "on_lost", "transactional"):
            if getattr(self, name) != Policy.__dataclass_fields__[name].default:
                raise InvalidJob(name, getattr(self, name), "no such keyword beside on_every_replica=True")

    def with_keywords(self, keywords: Mapping[str, Any]) -> Policy:
        """This policy with *keywords* in place of its own words. Raises InvalidJob, InvalidSetting."""
        known = PolicyKeywords.__annotations__
        for name in keywords:
            if name not in known:
                raise InvalidJob("policy keyword", name, f"one of {', '.join(known)}")
        changes: dict[str, Any] = {name: _checked(name, got) for name, got in keywords.items()}
        return replace(self, **changes)

    @property
    def run_lease(self) -> timedelta:
        """How long a run may hold what the fleet shares, whether or not later ticks may overlap."""
        return replace(self, overlap="forbid").claim_lease or LONGEST

    @property
    def claim_lease(self) -> timedelta | None:
        """How long a claim blocks later ticks (C-LEASE); None when overlap is allowed. A claim of a body
        without a timeout blocks them until it ends, or its replica is declared dead."""
        if self.overlap == "allow":
            return None
        if self.lease is not None:
            return self.lease
        return LONGEST if self.timeout is None else min(self.timeout + self.lease_margin, LONGEST)

    def check_bounded(self) -> None:
        """Raise InvalidJob when a claim would block later ticks for ever if its replica died."""
        claims = self.overlap != "allow" and not self.on_every_replica
        if claims and self.lease is None and self.timeout is None:
            raise InvalidJob(
                "timeout",
                None,
                "a timeout, or a lease",
                'this store has no heartbeat to tell a death by: give lease=, or allow overlap="allow"',
            )


_WORDS = {
    "overlap": get_args(Overlap),
    "catch_up": get_args(CatchUp),
    "on_lost": get_args(OnLost),
    "isolation": get_args(Isolation),
}
_SWITCHES = ("on_every_replica", "transactional")
_OPTIONAL = ("timeout", "late", "jitter")


def _checked(name: str, got: object) -> object:
    """Durations become timedeltas; the rest is checked by the policy itself."""
    if name in _WORDS or name in _SWITCHES or name == "catch_up_limit":
        return got
    if got is None and name in _OPTIONAL:
        return None
    return checked_duration(name, got)


@dataclass(frozen=True, slots=True)
class Job:
    """A registered unit of work: what to run, when it is due, and how."""

    id: str
    schedule: Schedule
    body: Body
    policy: Policy

    @property
    def work(self) -> Work:
        """The function as it was registered."""
        return self.body.work

    def __post_init__(self) -> None:
        checked_name("job_id", self.id)
