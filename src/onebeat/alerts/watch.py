"""Judges the alarms of a fleet, on one of its replicas (F-SILENT)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from onebeat.alarms import AlarmBook
from onebeat.alerts.alarm import Alarm
from onebeat.alerts.alert import Alert, Condition
from onebeat.alerts.deliveries import Deliveries
from onebeat.alerts.judging import MISSING, Finding, judged, missing, missing_key, no_more_missing
from onebeat.clock import Clock
from onebeat.errors import ClaimFailed
from onebeat.events import AlarmCleared, AlarmRaised, AlarmsUnjudged, Observer
from onebeat.history import MOST_ROWS, RunHistory, TickFilter

PERIOD = 60.0
"""Seconds from one look to the next, at least."""

MOST_CHANGES = 100
"""How many alarms are raised or cleared in one look: each is a statement."""


class Watch:
    """Looks when told to, on the replica with the lowest id of the living; the others do nothing.

    One statement a look when all is well: jobs and missed ticks are looked at in turn, where both are asked
    for, and of more than MOST_ROWS jobs so many at a time.

    identity: the id of this replica, which may change; knows: whether it has a job of that id.
    """

    def __init__(
        self,
        alarms: Sequence[Alarm],
        history: RunHistory,
        book: AlarmBook,
        deliveries: Deliveries,
        *,
        app: str,
        identity: Callable[[], str],
        knows: Callable[[str], bool],
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._alarms = [alarm for alarm in alarms if alarm.judged]
        self._history = history
        self._book = book
        self._deliveries = deliveries
        self._app = app
        self._identity = identity
        self._knows = knows
        self._clock = clock
        self._observe = observe
        of_jobs = any(alarm.silent_for is not None or alarm.failures is not None for alarm in self._alarms)
        of_ticks = any(alarm.missed for alarm in self._alarms)
        self._looks = [self._look_at_jobs] * of_jobs + [self._look_at_ticks] * of_ticks
        self._page: str | None = None
        self._sounding: set[str] | None = None
        self._unsure: dict[str, bool] = {}
        self._changes = 0
        self._told = False
        self._looking: asyncio.Task[None] | None = None
        self._next = clock.monotonic()

    def felt(self, living: Sequence[str]) -> None:
        """These replicas live, says a heartbeat: look, unless that was done within the last minute. On the
        jobs' loop, without waiting."""
        now = self._clock.monotonic()
        if now >= self._next and (self._looking is None or self._looking.done()):
            self._next = now + PERIOD
            self._looking = asyncio.get_running_loop().create_task(self.look(living), name="onebeat alarms")

    async def close(self) -> None:
        """Look no more. What is on its way gets a moment to arrive."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        await self._deliveries.close()

    async def look(self, living: Sequence[str]) -> None:
        """Raise and clear what is to be. Never raises: a store that is down is told of once."""
        if not self._looks or not living or min(living) != self._identity():
            self._sounding = None  # another replica is at it, and changes what sounds
            return
        try:
            if self._sounding is None:
                self._sounding = await self._known()
            self._looks.append(self._looks.pop(0))
            self._changes = 0
            await self._looks[-1](self._sounding)
        except ClaimFailed as error:
            self._sounding = None
            if not self._told:
                self._observe(AlarmsUnjudged(error))
            self._told = True
        else:
            self._told = False

    async def _known(self) -> set[str]:
        """What sounds, but for what nobody may have been told of: that is changed and told of anew."""
        sounding = set(await self._book.sounding(app=self._app))
        raised = {key for key, is_raised in self._unsure.items() if is_raised}
        return (sounding - raised) | (self._unsure.keys() - raised)

    async def _look_at_jobs(self, sounding: set[str]) -> None:
        page = await self._history.jobs(
            app=self._app, prefix=self._prefix(), limit=MOST_ROWS, after=self._page
        )
        self._page = page.next
        now = self._clock.now()
        found: dict[str, tuple[Finding, list[Alarm]]] = {}
        for job in page.rows:
            for alarm in self._of(job.job_id):
                for finding in judged(alarm, job, now):
                    found.setdefault(finding.key, (finding, []))[1].append(alarm)
        for finding, alarms in found.values():
            await self._settle(finding, alarms, sounding)

    async def _look_at_ticks(self, sounding: set[str]) -> None:
        """An alarm of missed ticks sounds as long as the history has any of the job."""
        which = TickFilter(prefix=self._prefix() or None, verdicts=MISSING)
        page = await self._history.ticks(which, app=self._app, limit=MOST_ROWS)
        found = missing(page.rows)
        for finding in found.values():
            await self._settle(finding, self._of_misses(finding.job_id), sounding)
        if page.next is not None:
            return  # more are missing than were read: that one of a job is not among them says nothing
        for key in [key for key in sounding if key.startswith(missing_key(""))]:
            job_id = key.removeprefix(missing_key(""))
            alarms = self._of_misses(job_id)
            if job_id not in found and alarms:
                over = no_more_missing(job_id)
                finding = Finding(key, job_id, Condition.MISSED, False, over, over)
                await self._settle(finding, alarms, sounding)

    async def _settle(self, finding: Finding, alarms: Sequence[Alarm], sounding: set[str]) -> None:
        """Raise or clear what has changed, and have it delivered by whoever is told so."""
        if not alarms or finding.sounding == (finding.key in sounding) or self._changes >= MOST_CHANGES:
            return
        self._changes += 1
        ours = await self._is_ours(finding)
        sounding ^= {finding.key}
        if not ours:
            return
        kind = AlarmRaised if finding.sounding else AlarmCleared
        text = finding.text if finding.sounding else finding.over
        self._observe(kind(finding.job_id, finding.condition, text))
        alert = Alert(
            self._app,
            finding.job_id,
            finding.condition,
            finding.sounding,
            text,
            finding.key,
            self._clock.now(),
        )
        self._deliveries.deliver([alarm.to for alarm in alarms], alert)

    async def _is_ours(self, finding: Finding) -> bool:
        """Whether this replica is the one to tell. An answer that was lost leaves that to the next look."""
        change = self._book.raise_alarm if finding.sounding else self._book.clear_alarm
        try:
            first = await change(finding.key, app=self._app)
        except ClaimFailed:
            self._unsure[finding.key] = finding.sounding
            raise
        return first or self._unsure.pop(finding.key, None) is finding.sounding

    def _prefix(self) -> str:
        """What the ids of all jobs that are looked at begin with."""
        ids = [alarm.job_id or alarm.prefix or "" for alarm in self._alarms]
        first, last = min(ids), max(ids)
        return first[: next((n for n, char in enumerate(first) if last[n : n + 1] != char), len(first))]

    def _of(self, job_id: str) -> list[Alarm]:
        """The alarms of a job. By a prefix only jobs that this replica has: others may be gone for good."""
        return [
            alarm for alarm in self._alarms if alarm.covers(job_id) and (alarm.job_id or self._knows(job_id))
        ]

    def _of_misses(self, job_id: str) -> list[Alarm]:
        return [alarm for alarm in self._of(job_id) if alarm.missed]
