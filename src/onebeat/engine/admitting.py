"""From a tick that is due to its slot: at once, after a head start, behind older ones, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from onebeat.engine.admission import Admission
from onebeat.engine.backlog import Backlog
from onebeat.engine.delays import Delays
from onebeat.engine.due import Due
from onebeat.engine.here import Here
from onebeat.engine.job import Job
from onebeat.engine.missed import missed_between
from onebeat.engine.roster import LONGEST_HEAD_START, Roster
from onebeat.engine.run import Run
from onebeat.engine.slots import Slots
from onebeat.engine.verdicts import Verdicts
from onebeat.events import TickEnded, TicksPassedOver
from onebeat.model import Answer, Outcome, Reason, Record, Tick, Verdict
from onebeat.schedules.agenda import Owed

_TOLD = {
    Reason.BUSY: Verdict.OVERLAPPED,
    Reason.UNAVAILABLE: Verdict.CLAIM_ERROR,
    Reason.TIMEOUT: Verdict.CLAIM_ERROR,
    Reason.REFUSED: Verdict.CLAIM_ERROR,
}


class Admitting:
    """Gives due ticks to their ids, and keeps those that stay owed. On the jobs' loop.

    A store that keeps no verdicts keeps no fleet either: then *verdicts* is None.
    """

    def __init__(self, here: Here, slots: Slots, jobs: Mapping[str, Job], verdicts: Verdicts | None) -> None:
        self._here = here
        self._slots = slots
        self._jobs = jobs
        self._verdicts = verdicts
        self.roster = Roster()
        self.backlog = Backlog(self._give_up)
        self._delays = Delays(here.clock, self.admit)
        self._unsettled: set[str] = set()
        self._ranks: dict[Tick, int] = {}
        self._due_at_once = 1

    def preferred_first(self, ticks: Iterable[Tick]) -> list[Tick]:
        """They come due at once: the order to hand them out in, those that prefer this replica first."""
        self._ranks = {tick: self.roster.rank(tick) for tick in ticks}
        self._due_at_once = len(self._ranks)
        return sorted(self._ranks, key=self._ranks.__getitem__)

    def due(self, tick: Tick) -> None:
        """The ticker hands *tick* out. A busy id skips it, before any claim is made (J-DUE)."""
        job = self._jobs.get(tick.job_id)
        due = Due(tick)
        if job is None:
            self._skip(tick, Reason.CANCELLED)
        elif self.backlog.queues(due, job.policy):
            self.offer(job.id)
        else:
            self._admit_in_time(due, job)

    def pass_over(self, owed: Owed, since: datetime) -> None:
        """A late wake has come past earlier ticks of a job: they are owed where it catches up on all."""
        job, tick = self._jobs.get(owed.tick.job_id), owed.tick
        if job is None or job.policy.catch_up != "all":
            self._here.observe(TicksPassedOver(tick.job_id, owed.passed_over, tick.scheduled_at, owed.exact))
            return
        since = max(since, self._here.clock.now() - job.policy.catch_up_window)
        self.backlog.owe(job.id, job.policy, missed_between(job.schedule, tick.scheduled_at, since))

    def offer(self, job_id: str) -> None:
        """Ask for what the job owes next, if anything, unless its id is busy."""
        due, job = self.backlog.next(job_id), self._jobs.get(job_id)
        if due is None or self._slots.is_busy(job_id):
            return
        if job is None:
            self.backlog.settle(due)
        elif due.ordered:
            self._admit_in_time(due, job)
        elif self._here.clock.now() - due.tick.scheduled_at > job.policy.catch_up_window:
            self.backlog.settle(due)
            self._skip(due.tick, Reason.LATE)
            self.offer(job_id)
        else:
            self.admit(due)

    def admit(self, due: Due) -> None:
        """Give it its slot now."""
        tick, job = due.tick, self._jobs.get(due.tick.job_id)
        if job is None or (due.asked_early and not job.schedule.matches(tick.scheduled_at)):
            # Removed while the tick was postponed, or another job has its id by now.
            self._skip(tick, Reason.CANCELLED)
            return
        run = Run(job.id, self._here.new_id(), replica=self._here.replica.label, tick=tick)
        claimed = None if job.policy.on_every_replica else due
        if not self._slots.run_once(Admission(run, job.body, job.policy, due=claimed, schedule=job.schedule)):
            self._busy(due, job)

    def postpone(self, due: Due, seconds: float) -> None:
        """Admit it in so many seconds."""
        self._delays.add(due, seconds)

    def won(self, admission: Admission, due: Due, answer: Answer) -> tuple[datetime, ...]:
        """*due* is claimed: it is owed no more. Of what lies before it nobody had the rest (F-VERDICT)."""
        self.backlog.settle(due)
        if admission.schedule is None or due.ordered:
            return ()
        return missed_between(admission.schedule, due.tick.scheduled_at, answer.owed_since)

    def refused(self, admission: Admission, due: Due, reason: Reason) -> bool:
        """Whether *due*, not run for *reason*, stays owed."""
        if self.backlog.keeps(due, admission.policy, reason):
            self._unsettled.add(due.tick.job_id)
            return True
        self._note(due, reason)
        return due.ordered

    def freed(self, admission: Admission) -> None:
        """An id has become free: what its job owes is asked for, but not what has just been refused."""
        if admission.job_id in self._unsettled:
            self._unsettled.discard(admission.job_id)
        else:
            self.offer(admission.job_id)

    def forget(self, job_id: str) -> None:
        """The job is gone, and what it owes with it."""
        self.backlog.forget(job_id)

    def withdraw(self) -> None:
        """The scheduler stops: what waits is skipped."""
        for due in self._delays.give_up():
            self._skip(due.tick, Reason.CANCELLED)
        self.backlog.forget()

    def _admit_in_time(self, due: Due, job: Job) -> None:
        """After its jitter, and after a head start for the replicas that this tick prefers (C-FAIR)."""
        seconds = self._wait(due, job)
        if not seconds:
            self.admit(due)
        elif self._slots.is_busy(job.id):
            self._busy(due, job)
        else:
            self._delays.add(due, seconds)

    def _wait(self, due: Due, job: Job) -> float:
        policy, wait = job.policy, 0.0
        if policy.jitter is not None and not due.ordered:
            from onebeat.schedules.jitter import delay_of  # not needed to import onebeat

            wait = delay_of(due.tick, policy.jitter).total_seconds()
        if policy.on_every_replica:
            return wait
        apart = self._apart(due.tick, job)
        # A tick that must not start late is not held up for as long as it may be late.
        return wait + min(apart, (policy.late or 2 * apart) / 2).total_seconds()

    def _apart(self, tick: Tick, job: Job) -> timedelta:
        """How long others have *tick* to themselves, but never until the job's next one is due here: claimed
        first, that would have passed this one over."""
        rank = self._ranks.get(tick)
        if rank is None:
            apart = self.roster.head_start(self.roster.rank(tick))
        else:
            apart = self.roster.head_start(rank, self._due_at_once)
        if apart <= LONGEST_HEAD_START:
            return apart
        following = job.schedule.next_after(tick.scheduled_at)
        return apart if following is None else min(apart, (following - tick.scheduled_at) * 3 / 4)

    def _busy(self, due: Due, job: Job) -> None:
        if self._slots.closed:
            self._skip(due.tick, Reason.CANCELLED)
        elif not self.backlog.keeps(due, job.policy, Reason.BUSY):
            self._give_up(due.tick, Reason.BUSY)

    def _note(self, due: Due, reason: Reason) -> None:
        """What no claim statement has written down itself."""
        if self._verdicts is None or reason not in _TOLD:
            return
        early = reason is Reason.REFUSED and due.asked_early
        why = f"{reason.value} on {self._here.replica.label}"
        self._verdicts.add(Record(due.tick, Verdict.EARLY if early else _TOLD[reason], why))

    def _give_up(self, tick: Tick, reason: Reason) -> None:
        self._note(Due(tick), reason)
        self._skip(tick, reason)

    def _skip(self, tick: Tick, reason: Reason) -> None:
        delay = (self._here.clock.now() - tick.scheduled_at).total_seconds()
        self._here.observe(TickEnded(tick, Outcome.SKIPPED, reason, delay))
