"""What must be true of every story. Each function returns the violations, in words; none is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import combinations, pairwise

from onebeat.events import SchedulerStarted, TickEnded, TicksPassedOver
from onebeat.model import Outcome, Reason, Tick, Verdict
from onebeat.schedules.dues import due_between
from onebeat.testing.story import Entry, SimulatedJob, Story, told

Invariant = Callable[[Story], list[str]]

_TOLERANCE = timedelta(seconds=5)
_OF_A_RUN = (Verdict.RAN, Verdict.FAILED, Verdict.TIMED_OUT)
_BROKEN_OFF = (Reason.CANCELLED,)
_HELD_UP = (Reason.OVERLAPPED, Reason.BUSY)
_DELAYED = (Reason.CANCELLED, Reason.BUSY, Reason.OVERLAPPED)


def never_twice(story: Story) -> list[str]:
    """C-ONE: no attempt at a tick is started by two replicas, or twice by one."""
    starts = Counter((entry.tick, entry.attempt) for entry in story.ledger)
    return [f"{told(tick)} started {times} times" for (tick, _), times in starts.items() if times > 1]


def won_in_order(story: Story) -> list[str]:
    """C-ORDER: with overlap forbidden no tick is won after a later one of its job."""
    found = []
    for job in story.jobs.values():
        wins = [win for win in story.wins if win.tick.job_id == job.id and not job.may_overlap]
        for before, after in pairwise(wins):
            if after.tick < before.tick:
                found.append(f"{told(after.tick)} won by {after.replica} after {told(before.tick)}")
    return found


def no_overlap(story: Story) -> list[str]:
    """C-LEASE, C-CRASH: with overlap forbidden, a run meets an earlier one only when that one's lease is
    over, or its replica has been declared dead."""
    found = []
    for job in story.jobs.values():
        if job.may_overlap:
            continue
        runs = [entry for entry in story.ledger if entry.tick.job_id == job.id]
        for one, other in combinations(runs, 2):
            if other.started < _end(story, one) and not _lapsed(story, one, other):
                found.append(
                    f"{told(other.tick)} on {other.replica} runs beside {told(one.tick)} on {one.replica}"
                )
    return found


def never_early(story: Story) -> list[str]:
    """W-EYES, C-EARLY: not before its instant by the replica's clock, nor 5 s before it by the store's."""
    found = []
    for entry in story.ledger:
        if entry.own_time < entry.tick.scheduled_at:
            found.append(f"{told(entry.tick)} began early by the clock of {entry.replica}")
        if entry.started < entry.tick.scheduled_at - _TOLERANCE:
            found.append(f"{told(entry.tick)} began more than 5 s early on {entry.replica}")
    return found


def fences_grow(story: Story) -> list[str]:
    """F-FENCE: each claim won for a job carries a greater fence than the one before, and its run gets it."""
    found = []
    for job_id in story.jobs:
        wins = [win for win in story.wins if win.tick.job_id == job_id]
        for before, after in pairwise(wins):
            if after.fence <= before.fence:
                found.append(f"{told(after.tick)} won with fence {after.fence} after {before.fence}")
    granted = {(win.tick, win.replica): win.fence for win in story.wins}
    for entry in story.ledger:
        if granted.get((entry.tick, entry.replica)) != entry.fence:
            found.append(f"{told(entry.tick)} ran on {entry.replica} with a fence nobody granted it")
    return found


def ids_free_at_the_end(story: Story) -> list[str]:
    """J-ONE, C-RELEASE: when all is over, no id is busy on a replica or blocked in the store."""
    return list(story.still_busy)


def claims_given_back(story: Story) -> list[str]:
    """C-RELEASE, C-CANCEL: what a replica won it asks the store to release, ran or not, unless it crashed."""
    return [
        f"{told(win.tick)} won by {win.replica} was never given back"
        for win in story.wins
        if win.replica not in story.crashed and win.token not in story.given_back
    ]


def none_missing(story: Story) -> list[str]:
    """C-ONE, C-ERROR: where the faults cost nothing, each owed tick ran or its loss was reported."""
    if not story.faults.cost_nothing:
        return []
    started = {entry.tick for entry in story.ledger}
    return [
        f"{told(tick)} never started, and nobody reported why"
        for job in story.jobs.values()
        if _ends_within_its_period(job, story.ready_at)
        for tick in story.owed(job)
        if tick not in started and not _excused(story, tick)
    ]


def every_tick_has_a_verdict(story: Story) -> list[str]:
    """F-VERDICT: whatever befell a tick, once a later one of its job has been won and ended the history
    says what; of one held by the dead, once somebody has been healthy for long enough to judge."""
    found = []
    unjudged = {win.tick for win in story.wins if win.replica in story.crashed} - story.lost.keys()
    for job in story.jobs.values():
        ends = [tick for tick, (verdict, _) in story.verdicts.items() if verdict in _OF_A_RUN]
        ended = [tick for tick in ends if tick.job_id == job.id]
        for tick in story.owed(job):
            if (
                tick not in unjudged
                and any(tick < later for later in ended)
                and story.verdicts.get(tick, (None, 0))[0] is None
            ):
                found.append(f"{told(tick)} has no verdict")
    return found


def verdicts_agree_with_the_ledger(story: Story) -> list[str]:
    """F-VERDICT: the history says of no tick that it ran which no body finished, and of none that nobody ran
    it which one did."""
    finished = {entry.tick for entry in story.ledger if entry.ended is not None}
    started = {entry.tick for entry in story.ledger}
    found = []
    for tick, (verdict, _) in story.verdicts.items():
        if verdict is Verdict.RAN and tick not in finished:
            found.append(f"{told(tick)} is said to have run, and no body ended")
        if verdict in (Verdict.MISSED, Verdict.OVERLAPPED, Verdict.PAUSED) and tick in started:
            found.append(f"{told(tick)} is said to be {verdict}, and a body began")
    return found


def one_outcome_each(story: Story) -> list[str]:
    """T-METRIC: each tick a replica evaluates ends in exactly one outcome there, or is passed over."""
    found: list[str] = []
    for ready in story.heard:
        if not isinstance(ready.event, SchedulerStarted):
            continue
        for job in story.jobs.values():
            found += _outcomes_of(story, ready.replica, job, ready.own_time)
    return found


INVARIANTS: tuple[Invariant, ...] = (
    never_twice,
    won_in_order,
    no_overlap,
    never_early,
    fences_grow,
    ids_free_at_the_end,
    claims_given_back,
    none_missing,
    every_tick_has_a_verdict,
    verdicts_agree_with_the_ledger,
    one_outcome_each,
)


def violations(story: Story) -> list[str]:
    """Everything that must not be, of all invariants."""
    return [f"{invariant.__name__}: {text}" for invariant in INVARIANTS for text in invariant(story)]


def check(story: Story) -> None:
    """Raise AssertionError if anything happened that must not, with the seed and the whole story."""
    found = violations(story)
    if found:
        told_again = "\n".join(story.lines)
        raise AssertionError(
            f"the fleet of seed {story.seed} broke {len(found)} rules:\n"
            + "\n".join(found)
            + f"\n\nIts story ({story.faults}):\n{told_again}"
        )


def _end(story: Story, entry: Entry) -> datetime:
    return entry.ended or story.crashed.get(entry.replica) or story.now


def _lapsed(story: Story, earlier: Entry, later: Entry) -> bool:
    """Whether the lease of the earlier run was over, by the store's clock, when the later claim was won."""
    won = {(win.tick, win.replica): win for win in story.wins}
    one, other = (won.get((entry.tick, entry.replica)) for entry in (earlier, later))
    if one is None or other is None:
        return False
    died_at = story.lost.get(earlier.tick)
    return (
        one.lease is None or other.at >= one.at + one.lease or (died_at is not None and other.at >= died_at)
    )


def _ends_within_its_period(job: SimulatedJob, moment: datetime) -> bool:
    first = job.schedule.next_after(moment)
    second = first and job.schedule.next_after(first)
    return not (first and second) or second - first > timedelta(seconds=job.takes + 0.2)


def _excused(story: Story, tick: Tick) -> bool:
    """Its replica was told to stop; a connection broke for so long that it or the next tick came too late;
    or clocks are apart, and one replica still ran an earlier tick when another's clock came to this one."""
    breaks = story.faults.lost_request or story.faults.lost_answer
    excuses = _DELAYED if breaks else _BROKEN_OFF
    return any(
        heard.event.outcome is Outcome.CLAIM_ERROR
        or heard.event.reason in excuses
        or (heard.event.reason in _HELD_UP and _ran_then(story, tick, heard.at))
        for heard in story.heard
        if isinstance(heard.event, TickEnded) and heard.event.tick == tick
    )


def _ran_then(story: Story, tick: Tick, moment: datetime) -> bool:
    return any(
        entry.started <= moment <= _end(story, entry)
        for entry in story.ledger
        if entry.tick.job_id == tick.job_id and entry.tick < tick
    )


def _outcomes_of(story: Story, replica: str, job: SimulatedJob, since: datetime) -> Iterator[str]:
    events = [heard.event for heard in story.heard if heard.replica == replica]
    over = [event for event in events if isinstance(event, TicksPassedOver) and event.job_id == job.id]
    ended = Counter(
        event.tick for event in events if isinstance(event, TickEnded) and event.tick.job_id == job.id
    )
    yield from (
        f"{told(tick)} ended {times} times on {replica}" for tick, times in ended.items() if times > 1
    )
    if replica in story.crashed:
        return
    ran = [entry.tick for entry in story.ledger if entry.replica == replica and entry.tick.job_id == job.id]
    yield from (f"{told(tick)} ran on {replica} without an outcome" for tick in ran if not ended[tick])
    latest = max([tick.scheduled_at for tick in ended] + [event.latest for event in over], default=since)
    evaluated = len(list(due_between(job.schedule, since, latest)))
    heard_of = len(ended) + sum(event.count for event in over)
    if evaluated != heard_of:
        yield f"{replica} evaluated {evaluated} ticks of {job.id} and told of {heard_of}"
