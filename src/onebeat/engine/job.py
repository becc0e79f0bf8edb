"""A registered job and its policy: values, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, TypedDict

from onebeat.engine.body import Body, Work
from onebeat.errors import InvalidJob
from onebeat.model import LONGEST, checked_duration, checked_name
from onebeat.schedule import Schedule

Duration = timedelta | float
Overlap = Literal["forbid", "allow"]


class PolicyKeywords(TypedDict, total=False):
    """What a job may say of itself, by keyword; durations in seconds or as timedelta.

    timeout: how long a body may run (default: the scheduler's; None: no limit).
    lease_margin: by how much the lease outlasts the timeout (default: the scheduler's).
    lease: the lease itself, in place of timeout + lease_margin.
    overlap: "forbid" (default): a later tick waits for no one but is refused while an earlier runs,
        anywhere; "allow": ticks are judged one by one.
    late: skip a tick that would start later than this after its instant (default None: never too late).
    on_every_replica: fire every tick on every replica, and never ask the store.
    """

    timeout: Duration | None
    lease_margin: Duration
    lease: Duration
    overlap: Overlap
    late: Duration | None
    on_every_replica: bool


@dataclass(frozen=True, slots=True)
class Policy:
    """How a job's ticks are claimed and run."""

    timeout: timedelta | None = timedelta(hours=1)
    lease_margin: timedelta = timedelta(minutes=1)
    lease: timedelta | None = None
    overlap: Overlap = "forbid"
    late: timedelta | None = None
    on_every_replica: bool = False

    def __post_init__(self) -> None:
        if self.overlap not in ("forbid", "allow"):
            raise InvalidJob("overlap", self.overlap, '"forbid" or "allow"')
        if not isinstance(self.on_every_replica, bool):
            raise InvalidJob("on_every_replica", self.on_every_replica, "True or False")

    def with_keywords(self, keywords: Mapping[str, Any]) -> Policy:
        """This policy with *keywords* in place of its own words. Raises InvalidJob, InvalidSetting."""
        known = PolicyKeywords.__annotations__
        for name in keywords:
            if name not in known:
                raise InvalidJob("policy keyword", name, f"one of {', '.join(known)}")
        changes: dict[str, Any] = {name: _checked(name, got) for name, got in keywords.items()}
        return replace(self, **changes)

    @property
    def claim_lease(self) -> timedelta | None:
        """How long a claim blocks later ticks (C-LEASE); None when overlap is allowed.

        Raises InvalidJob when nothing bounds it.
        """
        if self.overlap == "allow":
            return None
        if self.lease is not None:
            return self.lease
        if self.timeout is None:
            raise InvalidJob(
                "timeout", None, "a timeout, or a lease", 'give lease=, or allow overlap="allow"'
            )
        return min(self.timeout + self.lease_margin, LONGEST)


def _checked(name: str, got: object) -> object:
    if name in ("overlap", "on_every_replica"):
        return got
    if got is None and name in ("timeout", "late"):
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
        if not self.policy.on_every_replica:
            _ = self.policy.claim_lease  # refused here, not at the first tick
