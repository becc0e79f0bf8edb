"""The jobs of one page of the list: sought, sorted and cut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from onebeat.history import END_OF_TIME, JobState
from onebeat.model import Verdict
from onebeat.web.views.overview_ask import OverviewAsk, Sort, State

ROWS = 50

NextOf = Callable[[JobState], "datetime | None"]

_WORST_FIRST = (
    Verdict.FAILED,
    Verdict.TIMED_OUT,
    Verdict.LOST,
    Verdict.CLAIM_ERROR,
    Verdict.MISSED,
    Verdict.OVERLAPPED,
    Verdict.CANCELLED,
    Verdict.PAUSED,
    Verdict.EARLY,
    Verdict.RAN,
    None,
)
_RANKS = {verdict: rank for rank, verdict in enumerate(_WORST_FIRST)}


@dataclass(frozen=True, slots=True)
class Picked:
    """One page of `found` jobs. `ask` has the number of the page that there is."""

    ask: OverviewAsk
    jobs: Sequence[JobState]
    found: int
    pages: int

    @property
    def first(self) -> int:
        """The number of its first job among those found; 0 without any."""
        return min(self.found, (self.ask.page - 1) * ROWS + 1)

    @property
    def last(self) -> int:
        return min(self.found, self.ask.page * ROWS)


def picked(jobs: Sequence[JobState], running: Collection[str], ask: OverviewAsk, next_of: NextOf) -> Picked:
    """*jobs* come by id. Of a page behind the last, the last."""
    sought = ask.search.casefold()
    found = [
        job
        for job in jobs
        if job.job_id.startswith(ask.prefix)
        and sought in job.job_id.casefold()
        and (ask.verdict is None or job.last_verdict is ask.verdict)
        and (ask.state is None or _is(job, ask.state, running))
    ]
    _sort(found, ask.sort, next_of)
    pages = max(1, -(-len(found) // ROWS))
    page = min(ask.page, pages)
    return Picked(replace(ask, page=page), found[(page - 1) * ROWS : page * ROWS], len(found), pages)


def _is(job: JobState, state: State, running: Collection[str]) -> bool:
    match state:
        case State.FAILING:
            return job.failures > 0
        case State.RUNNING:
            return job.job_id in running
        case State.PAUSED:
            return job.paused_until is not None


def _sort(jobs: list[JobState], sort: Sort, next_of: NextOf) -> None:
    """Equals stay in the order of their ids."""
    if sort is Sort.NEXT:
        jobs.sort(key=lambda job: next_of(job) or END_OF_TIME)
    elif sort is Sort.VERDICT:
        jobs.sort(key=lambda job: _RANKS[job.last_verdict])
    elif sort is Sort.FAILURES:
        jobs.sort(key=lambda job: -job.failures)
