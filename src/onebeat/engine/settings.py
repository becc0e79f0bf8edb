"""The settings of a scheduler, checked when they are given."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from onebeat.engine.job import Duration, Policy
from onebeat.engine.limit import Limit, checked_limits
from onebeat.errors import InvalidJob, InvalidSetting
from onebeat.model import checked_duration, checked_name


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What holds for a whole scheduler."""

    app: str
    label: str
    policy: Policy
    claim_timeout: timedelta
    shutdown_timeout: timedelta
    retention: timedelta
    retention_count: int | None
    ttl: timedelta
    limits: tuple[Limit, ...]
    threads: int

    @classmethod
    def of(
        cls,
        *,
        app: str,
        replica: str | None,
        timeout: Duration | None,
        lease_margin: Duration,
        claim_timeout: Duration,
        shutdown_timeout: Duration,
        retention: Duration,
        retention_count: int | None,
        ttl: Duration,
        limits: Iterable[Limit],
        threads: int,
    ) -> Settings:
        """Raises InvalidSetting for what makes no sense."""
        _check_count("threads", threads)
        if retention_count is not None:
            _check_count("retention_count", retention_count)
        return cls(
            app=_name("app", app),
            label=_name("replica", _own_label() if replica is None else replica),
            policy=Policy().with_keywords({"timeout": timeout, "lease_margin": lease_margin}),
            claim_timeout=checked_duration("claim_timeout", claim_timeout),
            shutdown_timeout=checked_duration("shutdown_timeout", shutdown_timeout),
            retention=checked_duration("retention", retention),
            retention_count=retention_count,
            ttl=checked_duration("ttl", ttl),
            limits=checked_limits(limits),
            threads=threads,
        )


def _check_count(field: str, got: object) -> None:
    if isinstance(got, bool) or not isinstance(got, int) or got < 1:
        raise InvalidSetting(field, got, "a whole number, one or more")


def _own_label() -> str:
    return os.environ.get("ONEBEAT_REPLICA") or socket.gethostname()


def _name(field: str, got: str) -> str:
    try:
        return checked_name(field, got)
    except InvalidJob as error:
        raise InvalidSetting(error.field, error.got, error.expected) from None
