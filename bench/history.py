"""What a million ticks of history cost on PostgreSQL, next to an empty table in the same run.

    python -m bench.history

Ratios of medians; each asks for what people ask for: the newest page, that of one job, the verdict of one
tick; and what the replicas ask for: a claim of a hundred jobs.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from onebeat.history import TickFilter
from onebeat.model import Bid, Release, Replica, Tick, Verdict
from onebeat.stores.postgres import PostgresStore
from tests.servers.postgres import Postgres

_JOBS = 10_000
_TICKS_A_JOB = 100
_BAR = 2.0
_ROUNDS = 30
_PAGE = 20  # as `onebeat history` shows unless it is told otherwise; of an empty table none
_APP = "bench"

# As real runs leave them: most ran, some failed; a tick a minute for each job, the newest an hour ago.
_FILL = f"""
INSERT INTO onebeat_ticks (app, job_id, scheduled_at, token, holder, claimed_by, claimed_at, released_at,
                           started_at, finished_at, fence, verdict, provisional, note)
SELECT '{_APP}', 'job ' || lpad(job::text, 5, '0'), at, 'token ' || job || '/' || tick, 'replica',
       'web-' || job % 3, at, at + interval '1 s', at, at + interval '1 s', 1,
       CASE WHEN (job + tick) % 1000 = 0 THEN 'failed' ELSE 'ran' END, false,
       CASE WHEN (job + tick) % 1000 = 0 THEN 'ValueError: it did not work' END
  FROM generate_series(1, {_JOBS}) AS job, generate_series(1, {_TICKS_A_JOB}) AS tick,
       LATERAL (SELECT date_trunc('minute', now()) - interval '1 h' - tick * interval '1 min' AS at) AS due
"""
_FILL_JOBS = f"""
INSERT INTO onebeat_jobs (app, job_id, watermark, fence, schedule)
SELECT '{_APP}', 'job ' || lpad(job::text, 5, '0'), now() - interval '1 h', 1, '* * * * *'
  FROM generate_series(1, {_JOBS}) AS job
"""

Question = Callable[[], Awaitable[object]]


async def median(question: Question) -> float:
    """Milliseconds."""
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        await question()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1_000


def questions(store: PostgresStore) -> dict[str, Question]:
    replica = Replica(_APP, "bench", "bench")
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    known = Tick("job 00042", now - timedelta(hours=1, minutes=5))
    number = iter(range(1, 1_000_000))

    async def claim() -> None:
        round_ = next(number)
        ticks = [
            Tick(f"job {job:05}", now - timedelta(minutes=50) + timedelta(seconds=round_))
            for job in range(100)
        ]
        bids = [Bid(tick, f"{round_} {tick.job_id}", timedelta(minutes=1)) for tick in ticks]
        await store.claim(bids, replica=replica, timeout=timedelta(seconds=10))
        ends = [Release(bid.tick, bid.token, Verdict.RAN) for bid in bids]
        await store.release(ends, replica=replica)

    return {
        "history, the newest page": lambda: store.ticks(TickFilter(), app=_APP, limit=_PAGE),
        "history of one job": lambda: store.ticks(TickFilter(job_id="job 00042"), app=_APP, limit=_PAGE),
        "why, one tick": lambda: store.tick(known, app=_APP),
        "claim and release of 100": claim,
        "(no bar) failed ones, the newest page": lambda: store.ticks(
            TickFilter(verdicts=(Verdict.FAILED,)), app=_APP, limit=_PAGE
        ),
        "(no bar) lost ones, of which there are none": lambda: store.ticks(
            TickFilter(verdicts=(Verdict.LOST,)), app=_APP, limit=_PAGE
        ),
        "(no bar) running, none": lambda: store.ticks(TickFilter(running=True), app=_APP, limit=_PAGE),
    }


async def measured(server: Postgres, *, full: bool) -> dict[str, float]:
    name = server.new_database()
    store = PostgresStore(server.dsn(name))
    await store.migrate()
    server.run(_FILL_JOBS, database=name)
    if full:
        server.run(_FILL, database=name)
    server.run("ANALYZE", database=name)
    found = {}
    for what, question in questions(store).items():
        await question()
        found[what] = await median(question)
    await store.close()
    return found


def main() -> int:
    with Postgres() as server:
        empty = asyncio.run(measured(server, full=False))
        full = asyncio.run(measured(server, full=True))
    good = True
    for what, milliseconds in full.items():
        ratio = milliseconds / empty[what]
        has_bar = not what.startswith("(")
        good &= ratio <= _BAR or not has_bar
        verdict = ("PASS" if ratio <= _BAR else "FAIL") if has_bar else ""
        print(
            f"{what:45} {empty[what]:7.2f} ms on an empty table, {milliseconds:7.2f} ms with a million: "
            f"{ratio:6.2f}x {verdict}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
