"""The account of a demo, pure: what was owed, and what became of each tick of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from onebeat.cli.demo.ledger import Entry, Mark
from onebeat.model import Reason, Tick
from onebeat.schedule import Schedule
from onebeat.schedules.dues import due_between

# How long after its instant the killed replica may have claimed the tick that it lost.
_CLAIM_DELAY = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a surviving replica says of a tick that it did not run."""

    tick: Tick
    reason: str
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Every owed tick under exactly one of four heads; `twice` holds whatever started more than once."""

    ran: tuple[Tick, ...]
    lost: tuple[Tick, ...]
    blocked: tuple[Tick, ...]
    missed: tuple[Tick, ...]
    twice: tuple[Tick, ...]

    @property
    def owed(self) -> int:
        return len(self.ran) + len(self.lost) + len(self.blocked) + len(self.missed)

    @property
    def kept(self) -> bool:
        """Whether onebeat kept its word: nothing twice, nothing missed."""
        return not (self.missed or self.twice)

    def __str__(self) -> str:
        return (
            f"owed {self.owed} = ran {len(self.ran)} + lost {len(self.lost)} + blocked {len(self.blocked)}"
            f" + missed {len(self.missed)}; twice {len(self.twice)}"
        )


def owed_ticks(schedules: Mapping[str, Schedule], *, since: datetime, until: datetime) -> list[Tick]:
    """Every tick due in (since, until], by the schedules alone."""
    return sorted(
        Tick(job_id, instant)
        for job_id, schedule in schedules.items()
        for instant in due_between(schedule, since, until)
    )


def account(
    owed: Collection[Tick],
    ledger: Sequence[Entry],
    refusals: Sequence[Refusal],
    *,
    killed: str | None,
    leases: Mapping[str, timedelta],
) -> Summary:
    """Put every owed tick under its head.

    Ran: a body started. Lost: the newest tick of its job that the killed replica took, its body not ended;
    an older one has no such excuse. Blocked: refused while the lease of a lost tick ran. Missed: the rest.
    """
    starts = Counter(entry.tick for entry in ledger if entry.mark is Mark.START)
    lost = set(_lost(ledger, refusals, killed)) - {entry.tick for entry in ledger if entry.replica != killed}
    blocked = set(_blocked(lost, refusals, leases))
    heads: dict[str, list[Tick]] = {"ran": [], "lost": [], "blocked": [], "missed": []}
    for tick in owed:
        head = (
            "lost" if tick in lost else "ran" if starts[tick] else "blocked" if tick in blocked else "missed"
        )
        heads[head].append(tick)
    return Summary(
        **{head: tuple(ticks) for head, ticks in heads.items()},
        twice=tuple(sorted(tick for tick, count in starts.items() if count > 1)),
    )


def _lost(ledger: Sequence[Entry], refusals: Sequence[Refusal], killed: str | None) -> Iterator[Tick]:
    if killed is None:
        return
    ended = {entry.tick for entry in ledger if entry.replica == killed and entry.mark is Mark.END}
    taken = {entry.tick for entry in ledger if entry.replica == killed}
    # It may have died between its claim and the body: then only the others know of the claim.
    taken |= {refusal.tick for refusal in refusals if refusal.claimed_by == killed}
    newest: dict[str, Tick] = {}
    for tick in sorted(taken):
        newest[tick.job_id] = tick
    yield from (tick for tick in newest.values() if tick not in ended)


def _blocked(
    lost: Collection[Tick], refusals: Sequence[Refusal], leases: Mapping[str, timedelta]
) -> Iterator[Tick]:
    for refusal in refusals:
        for tick in lost:
            waited = refusal.tick.scheduled_at - tick.scheduled_at
            if (
                refusal.reason == Reason.OVERLAPPED
                and refusal.tick.job_id == tick.job_id
                and timedelta(0) < waited <= leases[tick.job_id] + _CLAIM_DELAY
            ):
                yield refusal.tick
