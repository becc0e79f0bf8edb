"""The story of a simulated fleet: what truly happened, on the common timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from onebeat.events import SchedulerStarted, TickEnded, TicksPassedOver
from onebeat.fleet import Buried, Held
from onebeat.model import Answer, Bid, Release, Tick, Verdict
from onebeat.schedule import Schedule
from onebeat.schedules.dues import due_after
from onebeat.testing.clock import FakeClock
from onebeat.testing.faults import Faults


@dataclass(frozen=True)
class SimulatedJob:
    """A job of a simulated fleet. Its body takes a random time, up to *takes* seconds."""

    id: str
    schedule: Schedule
    takes: float = 0.3
    policy: dict[str, Any] = field(default_factory=dict)

    @property
    def may_overlap(self) -> bool:
        return self.policy.get("overlap") == "allow"


@dataclass(slots=True)
class Entry:
    """A line of the bodies' own ledger. Times are true, but for `own_time`, the replica's."""

    tick: Tick
    replica: str
    fence: int | None
    started: datetime
    own_time: datetime
    attempt: int = 1
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class Win:
    """A claim at the moment the store granted it, whether or not its replica ever heard of it."""

    tick: Tick
    token: str
    replica: str
    at: datetime
    lease: timedelta | None
    fence: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What a replica reported."""

    at: datetime
    own_time: datetime
    replica: str
    event: SchedulerStarted | TickEnded | TicksPassedOver


class Story:
    """All of it, to ask about afterwards; `lines` is the same for people, and equal for equal seeds."""

    def __init__(
        self, seed: int, *, faults: Faults, jobs: Sequence[SimulatedJob], replicas: int, timeline: FakeClock
    ) -> None:
        self.seed = seed
        self.faults = faults
        self.replicas = replicas
        self.jobs = {job.id: job for job in jobs}
        self.lines: list[str] = []
        self.ledger: list[Entry] = []
        self.wins: list[Win] = []
        self.given_back: set[str] = set()
        self.lost: dict[Tick, datetime] = {}
        self.verdicts: dict[Tick, tuple[Verdict | None, int]] = {}
        self.heard: list[Heard] = []
        self._began_at = self.ready_at = timeline.now()
        self.closing_at: datetime | None = None
        self.crashed: dict[str, datetime] = {}
        self.still_busy: list[str] = []
        self._timeline = timeline

    @property
    def now(self) -> datetime:
        return self._timeline.now()

    def note(self, text: str) -> None:
        self.lines.append(f"{self._timeline.monotonic():10.6f} {text}")

    def crash(self, replica: str) -> None:
        self.crashed[replica] = self.now
        self.note(f"{replica} crashes")

    def began(self, entry: Entry) -> None:
        self.ledger.append(entry)
        self.note(f"{entry.replica} begins {told(entry.tick)}, fence {entry.fence}")

    def finished(self, entry: Entry) -> None:
        entry.ended = self.now
        self.note(f"{entry.replica} ends {told(entry.tick)}")

    def decided(self, replica: str, bids: Sequence[Bid], answers: Sequence[Answer]) -> None:
        for bid, answer in zip(bids, answers, strict=True):
            self.note(f"store: {told(bid.tick)} {answer.ruling} for {replica}")
            if answer.won and not any(win.token == bid.token for win in self.wins):
                self.wins.append(Win(bid.tick, bid.token, replica, self.now, bid.lease, answer.fence))

    def released(self, releases: Sequence[Release]) -> None:
        self.given_back.update(release.token for release in releases)

    def buried(self, buried: Sequence[Buried]) -> None:
        for lost in buried:
            self.lost[lost.tick] = self.now
            self.note(f"store: {told(lost.tick)} is lost, its replica declared dead")

    def reasserted(self, claims: Sequence[Held]) -> None:
        for claim in claims:
            self.note(f"store: {told(claim.tick)} is taken up again")

    def report(self, replica: str, own_time: datetime, event: object) -> None:
        if not isinstance(event, SchedulerStarted | TickEnded | TicksPassedOver):
            return
        self.heard.append(Heard(self.now, own_time, replica, event))
        if isinstance(event, SchedulerStarted):
            self.note(f"{replica} is ready")
        elif isinstance(event, TickEnded):
            self.note(f"{replica} reports {told(event.tick)} {event.outcome} {event.reason or ''}".rstrip())
        else:
            self.note(f"{replica} passes over {event.count} of {event.job_id}")

    def owed(self, job: SimulatedJob) -> Iterator[Tick]:
        """The ticks the fleet owes: from the first that is in the future by every replica's clock when
        the last one is ready, to the last that each has seen, and has had a second to end."""
        assert self.closing_at is not None, "the story has not ended"
        lasted = self.closing_at - self._began_at
        apart = timedelta(seconds=self.faults.skew) + self.faults.drift * lasted
        end = self.closing_at - apart - timedelta(seconds=1)
        for due in takewhile(lambda due: due < end, due_after(job.schedule, self.ready_at + apart)):
            yield Tick(job.id, due)


def told(tick: Tick) -> str:
    return f"{tick.job_id}@{tick.scheduled_at:%H:%M:%S}"
