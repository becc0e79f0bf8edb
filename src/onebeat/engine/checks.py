"""What a scheduler refuses at once. What only some jobs and settings want is loaded for these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from onebeat.claims import ClaimStore
from onebeat.engine.job import Job
from onebeat.engine.limit import Limit
from onebeat.errors import InvalidJob, InvalidSchedule, InvalidSetting
from onebeat.schedule import Schedule

T = TypeVar("T")


def several(field: str, given: Iterable[T]) -> tuple[T, ...]:
    """What was *given*. Raises InvalidSetting for one alone, outside any list."""
    if not isinstance(given, Iterable):
        raise InvalidSetting(field, given, "a list, be it of one")
    return tuple(given)


def check_token(cancel: object) -> None:
    """Raise InvalidJob for what is no CancelToken."""
    from onebeat.engine.run import CancelToken

    if not isinstance(cancel, CancelToken):
        raise InvalidJob("cancel", cancel, "a CancelToken")


def check_job(job: Job, store: ClaimStore | None) -> None:
    """Raise InvalidJob for a job that could not be run as it is, on *store*."""
    if store is not None:
        from onebeat.fleet import fleet_side

        if fleet_side(store) is None:
            job.policy.check_bounded()
    if job.policy.transactional:
        from onebeat.engine.transaction import check_transactional

        check_transactional(job.policy, job.body, store)
    if job.policy.isolation != "none":
        from onebeat.engine.target import check_isolated

        check_isolated(job.policy, job.body)


def check_limits(limits: Iterable[Limit], store: ClaimStore | None) -> None:
    """Raise InvalidSetting where the whole fleet is to share a limit and *store* hands out no permits."""
    shared = [limit.prefix for limit in limits if limit.fleet]
    if not shared:
        return
    from onebeat.permits import permit_side

    if permit_side(store) is None:
        expected = "a store that hands out permits, for fleet=True"
        raise InvalidSetting("limits", shared, expected, "give store=")


def hashable(schedule: Schedule) -> Schedule:
    """*schedule* itself. Raises InvalidSchedule for one without a hash: equal schedules are computed once."""
    try:
        hash(schedule)
    except TypeError:
        raise InvalidSchedule(
            "schedule", schedule, "a hashable value", "equal schedules count once"
        ) from None
    return schedule
