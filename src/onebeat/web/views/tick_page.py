"""All that is known of one tick, for its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from onebeat.history import TickRecord
from onebeat.insight.why import Known, became
from onebeat.web.views.addresses import job_path, tick_path, trace_address
from onebeat.web.views.text import block, shown
from onebeat.web.views.tick_words import UNKNOWN, badge_of
from onebeat.web.views.words import Badge, span


@dataclass(frozen=True, slots=True)
class TickPage:
    """`answer` is the first sentence on it, `sentences` the others. `facts` and `times` are pairs of a term
    and what is known. `error` is the note with all its lines. `nearest` are its neighbours where it has no
    row: words and address."""

    job: str
    job_path: str
    at: datetime
    badge: Badge
    answer: str
    sentences: tuple[str, ...]
    times: tuple[tuple[str, datetime], ...]
    facts: tuple[tuple[str, str], ...]
    error: str | None
    trace: str | None
    trace_path: str | None
    nearest: tuple[tuple[str, str], ...]


def tick_page(known: Known, trace_url: str | None, shown_in: tzinfo) -> TickPage:
    record, tick = known.record, known.tick
    answer, *sentences = map(shown, became(known, shown_in))
    return TickPage(
        job=shown(tick.job_id),
        job_path=job_path(tick.job_id),
        at=tick.scheduled_at,
        badge=UNKNOWN if record is None else badge_of(record),
        answer=answer,
        sentences=tuple(sentences),
        times=() if record is None else _times(record),
        facts=() if record is None else _facts(record),
        error=block(record.note) if record is not None and record.note else None,
        trace=None if record is None or record.trace_id is None else shown(record.trace_id),
        trace_path=trace_address(trace_url, None if record is None else record.trace_id),
        nearest=_nearest(known.before, known.after),
    )


def _times(record: TickRecord) -> tuple[tuple[str, datetime], ...]:
    told = (
        ("Scheduled", record.tick.scheduled_at),
        ("Claimed", record.claimed_at),
        ("Began", record.started_at),
        ("Ended", record.finished_at),
    )
    return tuple((term, at) for term, at in told if at is not None)


def _facts(record: TickRecord) -> tuple[tuple[str, str], ...]:
    told = (
        ("Verdict", badge_of(record).word + (", provisional" if record.provisional else "")),
        ("Replica", record.replica),
        ("Replica's id", record.replica_id),
        ("Attempt", str(record.attempt) if record.replica is not None else None),
        ("Fence", str(record.fence) if record.fence else None),
        ("Late by", None if record.lateness is None else span(record.lateness)),
        ("Took", None if record.duration is None else span(record.duration)),
        ("Wanted of it", None if record.wanted is None else record.wanted.value),
        ("Triggered by", record.by if record.triggered else None),
        ("Why it was triggered", record.reason if record.triggered else None),
    )
    return tuple((term, shown(what)) for term, what in told if what is not None)


def _nearest(before: TickRecord | None, after: TickRecord | None) -> tuple[tuple[str, str], ...]:
    near = (("The tick before it", before), ("The tick after it", after))
    return tuple((words, tick_path(record.tick)) for words, record in near if record is not None)
