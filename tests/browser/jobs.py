"""What the replicas of these tests run: some jobs that work, some that do not, some named to do harm."""

from __future__ import annotations

from onebeat import Run, Scheduler, every
from onebeat.events import Observer

APP = "shop"

QUICK, SLOW, FAILING, NIGHTLY = "quick", "sync/slow", "failing", "report/nightly"
LONG = "long"
"""Never due in these tests; triggered, it runs until it is cancelled."""

HARM = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
HOSTILE = (
    f'">{HARM}',
    "../../job?id=quick&at=1#%2e%2e%2f;'\"\\",
    "{{ 7 * 7 }}{% include 'base.html' %}${7*7}",
    "\u202egnirts desrever \u2066 e\u0301 😀",
    "javascript:window.harmed=1",
    "x" * 200,
    " ",
)
"""Ids that a careless page would run, follow, fill in or fall over."""


_LONGEST = 60


class Broken(Exception):
    """What the failing job raises."""


def scheduler_on(dsn: str, label: str, *observers: Observer) -> Scheduler:
    """A scheduler with all the jobs."""
    scheduler = Scheduler(dsn, app=APP, replica=label, ttl=6, shutdown_timeout=5, observers=observers)

    async def at_once() -> None:
        pass

    def for_a_while(run: Run) -> None:
        run.wait(0.3)

    def failing() -> None:
        raise Broken(f"it did not work: {HARM}")

    def until_cancelled(run: Run) -> None:
        run.wait(_LONGEST)

    scheduler.add(QUICK, every(1), at_once)
    scheduler.add(SLOW, every(2), for_a_while)
    scheduler.add(FAILING, every(2), failing)
    scheduler.cron("30 2 * * *", job_id=NIGHTLY, tz="Europe/Berlin")(at_once)
    scheduler.cron("0 0 29 2 *", job_id=LONG, timeout=_LONGEST)(until_cancelled)
    for job_id in HOSTILE:
        scheduler.add(job_id, every(5), failing)
    return scheduler
