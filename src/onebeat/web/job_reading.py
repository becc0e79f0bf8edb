"""Asks the store for what a job's page needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from onebeat.history import AuditRecord, JobState, TickFilter, TickRecord
from onebeat.insight.pauses import pause_at
from onebeat.insight.wellness import lives
from onebeat.model import Tick, Verdict
from onebeat.schedule import Schedule
from onebeat.schedules.dues import due_between
from onebeat.schedules.stored import stored
from onebeat.web.reading import A_GLANCE, Reader
from onebeat.web.remembered import Remembered
from onebeat.web.views.job_ask import MOST_DRAWN, SPANS, JobAsk
from onebeat.web.views.job_facts import JobFacts
from onebeat.web.views.timeline import still_going
from onebeat.web.views.window import Window, window_around, window_back

ROWS = 25
_NEWEST = 20
_MOST_RUNNING = 20
_MOST_BEFORE = 20  # ticks before a window that are looked at for runs that reach into it
_MOST_UNCLAIMED = 100
_TIME_TO_CLAIM = timedelta(seconds=20)
_RUNS_SINCE = timedelta(days=7)  # of a job whose runs may overlap: the whole history is not searched


class Jobs:
    """The facts of jobs, for all who look at the same page. None for a job that no replica ever registered;
    both raise ClaimFailed when the store cannot answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: Remembered[JobFacts | None] = Remembered(A_GLANCE)

    async def now(self, ask: JobAsk) -> JobFacts | None:
        """As they are: whoever has just done something sees it."""
        return await self._known.anew(ask, lambda: job_facts(self._reader, ask))

    async def of_late(self, ask: JobAsk) -> JobFacts | None:
        """As they were a glance ago at most."""
        return await self._known.get(ask, lambda: job_facts(self._reader, ask))


async def job_facts(reader: Reader, ask: JobAsk) -> JobFacts | None:
    """None for a job that no replica ever registered. Raises ClaimFailed when the store cannot answer."""
    history, app = reader.history, reader.app
    job = await history.job(ask.job_id, app=app)
    if job is None:
        return None
    now = await history.store_time()
    newest = await _ticks(reader, TickFilter(job_id=ask.job_id), _NEWEST)
    schedule = None if job.schedule is None else stored(job.schedule)
    window, drawn, cut = await _drawn(reader, ask, now)
    unclaimed = _unclaimed(job, schedule, newest, now)
    replicas = [replica for replica in await history.replicas(app=app) if lives(replica, now)]
    shown = TickFilter(job_id=ask.job_id, verdicts=(ask.verdict,) if ask.verdict else ())
    return JobFacts(
        ask=ask,
        now=now,
        job=job,
        schedule=schedule,
        newest=newest,
        running=(*_waiting(newest), *await _running(reader, job, now)),
        window=window,
        drawn=drawn,
        cut=cut,
        table=await history.ticks(shown, app=app, limit=ROWS, after=ask.after),
        unclaimed=unclaimed[:_MOST_UNCLAIMED],
        more_unclaimed=len(unclaimed) > _MOST_UNCLAIMED,
        living=len(replicas),
        having=sum(ask.job_id in replica.jobs for replica in replicas),
        pause=await _pause(reader, newest),
        paused=await pause_at(history, Tick(job.job_id, now), app) if job.paused_until is not None else None,
    )


async def _ticks(reader: Reader, which: TickFilter, limit: int) -> tuple[TickRecord, ...]:
    page = await reader.history.ticks(which, app=reader.app, limit=limit)
    return page.rows


async def _drawn(reader: Reader, ask: JobAsk, now: datetime) -> tuple[Window, tuple[TickRecord, ...], bool]:
    """The window, the ticks in it, the newest first, and whether it had to be narrowed."""
    if ask.last is not None:
        rows = await _ticks(reader, TickFilter(job_id=ask.job_id), ask.last)
        return window_around(rows, now), rows, False
    window = window_back(SPANS[ask.over], now)
    rows = await _ticks(reader, TickFilter(job_id=ask.job_id, since=window.since), MOST_DRAWN + 1)
    if len(rows) > MOST_DRAWN:
        rows = rows[:MOST_DRAWN]
        return window_around(rows, now), rows, True
    before = await _ticks(reader, TickFilter(job_id=ask.job_id, until=window.since), _MOST_BEFORE)
    return window, (*rows, *still_going(before, window.since, now)), False


def _waiting(newest: Sequence[TickRecord]) -> Iterator[TickRecord]:
    """What was triggered, and nobody has taken up."""
    return (record for record in newest if record.verdict is None and record.replica is None)


async def _running(reader: Reader, job: JobState, now: datetime) -> tuple[TickRecord, ...]:
    """What holds the job is no older than its newest claim."""
    since = min(now - _RUNS_SINCE, job.watermark or now)
    return await _ticks(reader, TickFilter(job_id=job.job_id, since=since, running=True), _MOST_RUNNING)


def _unclaimed(
    job: JobState, schedule: Schedule | None, newest: Sequence[TickRecord], now: datetime
) -> tuple[Tick, ...]:
    """What is due after all that is known of, and should be claimed by now: one more than are told."""
    if schedule is None:
        return ()
    told = [record.tick.scheduled_at for record in newest if not record.triggered]
    after = max([job.owed_since, *told[:1], *([job.watermark] if job.watermark else [])])
    dues = due_between(schedule, after, now - _TIME_TO_CLAIM)
    return tuple(Tick(job.job_id, due) for due in islice(dues, _MOST_UNCLAIMED + 1))


async def _pause(reader: Reader, newest: Sequence[TickRecord]) -> AuditRecord | None:
    if not newest or newest[0].verdict is not Verdict.PAUSED:
        return None
    return await pause_at(reader.history, newest[0].tick, reader.app)
