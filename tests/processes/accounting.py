"""The account of a fleet, pure: what was owed, what ran, and which losses the rules name.

Every job here is due at every whole second.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from onebeat import Outcome, Reason, Tick
from tests.processes.records import Entry, Kind, Mark, Note

SECOND = timedelta(seconds=1)
LONGEST_RUN = timedelta(seconds=0.6)
"""From a tick's instant to the end of its body: that of the job in a thread, run by the second in rank, for
the first is gone and has its head start all the same."""
_CLAIMED_WITHIN = timedelta(seconds=1)
"""How long after its instant a tick may be claimed, from when its lease counts."""


@dataclass(frozen=True, slots=True)
class Outage:
    """*replica*'s claim statements failed from the one begun at `since` until one answered at `until`."""

    replica: str
    since: datetime
    until: datetime

    def covers(self, tick: Tick) -> bool:
        """Whether the tick may be missing for it: from the one the failed statement was for to one period
        after the first success."""
        return self.since - SECOND < tick.scheduled_at <= self.until + SECOND


def owed(jobs: Collection[str], notes: Sequence[Note]) -> list[Tick]:
    """From the first tick after the last replica was ready to the last whose runs could end before the first
    began to stop, by the replicas' own clocks: a stop cancels what it meets (X-STOP)."""
    ready = max(note.shown for note in notes if note.kind is Kind.READY)
    stopping = min(note.shown for note in notes if note.kind is Kind.STOPPING)
    return owed_between(jobs, ready, stopping - LONGEST_RUN)


def owed_between(jobs: Collection[str], since: datetime, until: datetime) -> list[Tick]:
    """Every tick in (since, until)."""
    ticks = []
    instant = since.replace(microsecond=0) + SECOND
    while instant < until:
        ticks += [Tick(job_id, instant) for job_id in jobs]
        instant += SECOND
    return ticks


def twice(ledger: Sequence[Entry]) -> list[Tick]:
    """The ticks whose body started more than once. Never excused."""
    starts = Counter(entry.tick for entry in ledger if entry.mark is Mark.START)
    return sorted(tick for tick, count in starts.items() if count > 1)


def missing(owed: Collection[Tick], ledger: Sequence[Entry]) -> list[Tick]:
    """The owed ticks whose body never ended."""
    ended = {entry.tick for entry in ledger if entry.mark is Mark.END}
    return sorted(set(owed) - ended)


def overlaps(job_id: str, ledger: Sequence[Entry]) -> list[tuple[Tick, Tick]]:
    """Runs of this job that started before another had ended."""
    spans = sorted(_spans(job_id, ledger))
    return [
        (earlier, later)
        for (_, ended, earlier), (started, _, later) in itertools.pairwise(spans)
        if started < ended
    ]


def fences_fallen(job_id: str, ledger: Sequence[Entry]) -> list[Tick]:
    """Ticks of this job whose fence is not above that of the tick before."""
    fences = sorted({(entry.tick, entry.fence) for entry in ledger if entry.job_id == job_id})
    return [later for (_, before), (later, fence) in itertools.pairwise(fences) if fence <= before]


def lost_with(replica: str, ledger: Sequence[Entry], notes: Sequence[Note]) -> set[Tick]:
    """What a killed replica took with it: what it held, if its body did not end."""
    ended = {entry.tick for entry in ledger if entry.mark is Mark.END}
    return held_by(replica, ledger, notes) - ended


def held_by(replica: str, ledger: Sequence[Entry], notes: Sequence[Note]) -> set[Tick]:
    """What a killed replica may have held: of each job, the newest tick it had."""
    taken = {entry.tick for entry in ledger if entry.replica == replica}
    # It may have died between its claim and the body: then only the others know of the claim.
    taken |= {note.tick for note in notes if note.tick is not None and note.claimed_by == replica}
    return set({tick.job_id: tick for tick in sorted(taken)}.values())


def blocked_by(holding: Collection[Tick], notes: Sequence[Note], lease: timedelta) -> set[Tick]:
    """What was refused because of the lease of these ticks, while it ran."""
    return {
        tick
        for tick in _ticks(notes, Reason.OVERLAPPED)
        for held in holding
        if held.job_id == tick.job_id and held < tick
        if tick.scheduled_at - held.scheduled_at <= lease + _CLAIMED_WITHIN
    }


def called_off(notes: Sequence[Note]) -> set[Tick]:
    """What a replica that stopped had asked for, and not yet begun."""
    return _ticks(notes, Reason.CANCELLED)


def overtaken(notes: Sequence[Note], ledger: Sequence[Entry], tolerance: timedelta) -> set[Tick]:
    """What clocks apart by up to *tolerance* cost: refused to those who lead, or skipped by them, because an
    earlier run still went on; refused to those who lag because a later tick had begun before they asked."""
    begun: dict[str, list[Entry]] = defaultdict(list)
    for entry in ledger:
        if entry.mark is Mark.START:
            begun[entry.job_id].append(entry)
    refused = _ticks(notes, Reason.OVERLAPPED) | _ticks(notes, Reason.BUSY)
    return {
        note.tick
        for note in notes
        if note.tick in refused and note.reason == Reason.CLAIMED
        for later in begun[note.job_id]
        if later.stamp < note.stamp
        if timedelta(0) < later.scheduled_at - note.tick.scheduled_at <= tolerance
    }


def outages(notes: Sequence[Note]) -> list[Outage]:
    """When claim statements failed, replica by replica. One without a success after it has no end yet:
    it is left out, and excuses nothing."""
    found: list[Outage] = []
    since: dict[str, datetime] = {}
    for note in sorted(notes, key=lambda note: note.stamp):
        if note.kind is Kind.UNANSWERED:
            since.setdefault(note.replica, note.stamp - timedelta(seconds=note.took))
        elif note.kind is Kind.ANSWERED and note.replica in since:
            found.append(Outage(note.replica, since.pop(note.replica), note.stamp))
    return found


def unserved(notes: Sequence[Note]) -> set[Tick]:
    """What a replica reported as `claim_error` or `busy` in an outage of its own."""
    by_replica: dict[str, list[Outage]] = defaultdict(list)
    for outage in outages(notes):
        by_replica[outage.replica].append(outage)
    return {
        note.tick
        for note in notes
        if note.tick is not None
        if note.outcome == Outcome.CLAIM_ERROR or note.reason == Reason.BUSY
        if any(outage.covers(note.tick) for outage in by_replica[note.replica])
    }


def _ticks(notes: Sequence[Note], reason: Reason) -> set[Tick]:
    return {note.tick for note in notes if note.tick is not None and note.reason == reason}


def _spans(job_id: str, ledger: Sequence[Entry]) -> Iterator[tuple[datetime, datetime, Tick]]:
    started: dict[tuple[Tick, str], datetime] = {}
    for entry in ledger:
        if entry.job_id != job_id:
            continue
        if entry.mark is Mark.START:
            started[entry.tick, entry.replica] = entry.stamp
        else:
            yield started[entry.tick, entry.replica], entry.stamp, entry.tick
