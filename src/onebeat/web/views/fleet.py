"""Replicas, what they run, and what is not as it should be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from onebeat.doctor import Finding, Level
from onebeat.drift import TOLERATED_SKEW, Disagreement, Drift, disagreements
from onebeat.history import ReplicaState, TickRecord
from onebeat.insight.wellness import lives
from onebeat.model import Wanted
from onebeat.web.views.words import Badge, span

LIVING = Badge("●", "ran", "living")
SILENT = Badge("◔", "missed", "silent")
DEAD = Badge("✕", "failed", "dead")
LEFT = Badge("–", "skipped", "left")
_STATES = (LIVING, SILENT, DEAD, LEFT)

_LEVELS = {
    Level.OK: Badge("✓", "ran", "ok"),
    Level.WARNING: Badge("▲", "missed", "warning"),
    Level.ERROR: Badge("✕", "failed", "error"),
}
_ABOUT = {Drift.SCHEDULE: "Schedule", Drift.ZONE_DATA: "Zone data", Drift.CLOCK: "Clock"}


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One replica. `heard` says when it last beat, `ended` when it left or was declared dead."""

    state: Badge
    replica: ReplicaState
    heard: str
    ended: datetime | None
    skew: str
    skewed: bool
    running: tuple[TickRecord, ...]


@dataclass(frozen=True, slots=True)
class RunningRow:
    """One run, and for how long its claim has been held."""

    record: TickRecord
    held: str
    cancelled: bool


@dataclass(frozen=True, slots=True)
class FleetView:
    """The fleet at *now*, by the store's clock. `cut` says that more ticks run than were asked for."""

    now: datetime
    rows: tuple[ReplicaRow, ...]
    running: tuple[RunningRow, ...]
    cut: bool
    drift: tuple[tuple[str, Disagreement], ...]

    @property
    def told(self) -> str:
        """How many replicas are in which state."""
        counts = Counter(row.state for row in self.rows)
        return ", ".join(f"{counts[state]:,} {state.word}" for state in _STATES if counts[state])


def fleet_view(
    replicas: Sequence[ReplicaState], running: Sequence[TickRecord], now: datetime, *, cut: bool = False
) -> FleetView:
    """*running* come newest first; the longest runs are shown first."""
    held: dict[str | None, list[TickRecord]] = defaultdict(list)
    oldest_first = sorted(running, key=lambda record: (record.claimed_at or now, record.tick))
    for record in oldest_first:
        held[record.replica_id].append(record)
    return FleetView(
        now=now,
        rows=tuple(_row(replica, held[replica.id], now) for replica in replicas),
        running=tuple(_running(record, now) for record in oldest_first),
        cut=cut,
        drift=tuple((_ABOUT[one.about], one) for one in disagreements(replicas, now=now)),
    )


def level_badge(level: Level) -> Badge:
    """As a sign and a word."""
    return _LEVELS[level]


def worst(findings: Sequence[Finding]) -> Level:
    """The worst level among them; OK of none."""
    for level in (Level.ERROR, Level.WARNING):
        if any(finding.level is level for finding in findings):
            return level
    return Level.OK


def _row(replica: ReplicaState, running: Sequence[TickRecord], now: datetime) -> ReplicaRow:
    return ReplicaRow(
        state=_state(replica, now),
        replica=replica,
        heard=f"{span(max(0.0, (now - replica.beat_at).total_seconds()))} ago",
        ended=replica.dead_at,
        skew=f"{round(replica.skew, 2) or 0.0:+.2f} s",
        skewed=abs(replica.skew) > TOLERATED_SKEW,
        running=tuple(running),
    )


def _state(replica: ReplicaState, now: datetime) -> Badge:
    if replica.dead_at is not None:
        return LEFT if replica.left else DEAD
    return LIVING if lives(replica, now) else SILENT


def _running(record: TickRecord, now: datetime) -> RunningRow:
    held = None if record.claimed_at is None else max(0.0, (now - record.claimed_at).total_seconds())
    return RunningRow(record, span(held), record.wanted is Wanted.CANCEL)
