"""How a job stands: what is to be known of it at a glance, and why its newest ticks did not run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo

from onebeat.history import END_OF_TIME, TickRecord
from onebeat.insight.why import Known, explained, pause_in_words
from onebeat.insight.words import instant
from onebeat.model import Verdict
from onebeat.web.views.job_facts import JobFacts
from onebeat.web.views.text import shown
from onebeat.web.views.tick_words import WAITING, badge_of
from onebeat.web.views.timeline import ran
from onebeat.web.views.words import Badge, badge

_WAITS = Badge("◦", "skipped", "waits for its next tick")


def badges(facts: JobFacts, shown_in: tzinfo) -> tuple[Badge, ...]:
    """What holds of the job right now, the weightiest first."""
    return tuple(_badges(facts, shown_in)) or (_WAITS,)


def _badges(facts: JobFacts, shown_in: tzinfo) -> Iterator[Badge]:
    job = facts.job
    if not facts.living:
        yield Badge("✕", "failed", "no replica lives: nothing will run it")
    elif not facts.having:
        yield Badge("✕", "failed", f"none of the {facts.living} living replicas has it")
    if job.failures:
        times = "its last run" if job.failures == 1 else f"its last {job.failures} runs"
        yield Badge("✕", "failed", f"{times} did not end well")
    if job.paused_until is not None:
        yield Badge(*badge(Verdict.PAUSED)[:2], f"paused {_end(job.paused_until, shown_in)}")
    for record in facts.running:
        if ran(record):
            since = instant(record.started_at or record.claimed_at, shown_in)
            yield Badge(*badge(None)[:2], f"runs on {shown(record.replica or '')} since {since}")
        else:
            yield WAITING


def pause_told(facts: JobFacts, shown_in: tzinfo) -> str | None:
    """Who paused it, when and why, if it is paused and the audit still knows."""
    return None if facts.paused is None else shown(pause_in_words(facts.paused, shown_in))


def why_not(facts: JobFacts, shown_in: tzinfo) -> tuple[str, ...]:
    """Why the newest ticks did not run, in sentences; none when the newest did."""
    return (*_of_unclaimed(facts, shown_in), *_of_newest(facts, shown_in))


def _of_unclaimed(facts: JobFacts, shown_in: tzinfo) -> Iterator[str]:
    count = len(facts.unclaimed)
    if not count:
        return
    first = instant(facts.unclaimed[0].scheduled_at, shown_in)
    many = "At least " if facts.more_unclaimed else ""
    yield f"{many}{count} due since {first} {'is' if count == 1 else 'are'} claimed by nobody so far."
    if not facts.living:
        yield "No replica lives that could claim them."
    elif not facts.having:
        yield "No living replica has registered the job: a deploy may have left it out."
    elif facts.job.paused_until is not None:
        yield "The job is paused."
    else:
        yield f"Living replicas that have it: {facts.having}. Their logs say what keeps them from claiming."


def _of_newest(facts: JobFacts, shown_in: tzinfo) -> Iterator[str]:
    streak: list[TickRecord] = []
    for record in facts.newest:
        if badge_of(record) == WAITING:
            continue
        if ran(record) or (streak and badge_of(record) != badge_of(streak[0])):
            break
        streak.append(record)
    if not streak:
        return
    newest = streak[0]
    if len(streak) > 1:
        more = "at least " if len(streak) == len(facts.newest) else ""
        yield f"The newest {more}{len(streak)} ticks: {badge_of(newest).word}. Of the latest:"
    known = Known(newest.tick, facts.now, newest, facts.job, None, None, facts.pause)
    yield from map(shown, explained(known, shown_in))


def _end(until: datetime, shown_in: tzinfo) -> str:
    return "until resumed" if until == END_OF_TIME else f"until {instant(until, shown_in)}"
