"""Instants, spans and verdicts as the pages show them."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import NamedTuple

from onebeat.insight.words import written_in
from onebeat.model import Verdict


class Badge(NamedTuple):
    """A verdict as one sign that reads without colour, its class in the stylesheet, and the word for it."""

    sign: str
    kind: str
    word: str


_BADGES = {
    Verdict.RAN: Badge("●", "ran", "ran"),
    Verdict.FAILED: Badge("✕", "failed", "failed"),
    Verdict.TIMED_OUT: Badge("◔", "failed", "timed out"),
    Verdict.LOST: Badge("?", "lost", "lost with its replica"),
    Verdict.MISSED: Badge("○", "missed", "missed"),
    Verdict.OVERLAPPED: Badge("≋", "skipped", "overlapped"),
    Verdict.PAUSED: Badge("‖", "skipped", "paused"),
    Verdict.CANCELLED: Badge("–", "skipped", "cancelled"),
    Verdict.EARLY: Badge("«", "skipped", "early"),
    Verdict.CLAIM_ERROR: Badge("!", "missed", "claim error"),
}
_RUNNING = Badge("▸", "running", "running")


def badge(verdict: Verdict | None) -> Badge:
    """None: it runs."""
    return _RUNNING if verdict is None else _BADGES[verdict]


def instant(moment: datetime | None, zone: tzinfo) -> str:
    """In *zone*, to the second; a dash for None."""
    return "–" if moment is None else written_in(zone, moment).strftime("%Y-%m-%d %H:%M:%S %Z")


def span(seconds: float | None) -> str:
    """A length of time, in its largest two units; a dash for None."""
    if seconds is None:
        return "–"
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    if seconds < 1:
        return f"{sign}{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{sign}{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{sign}{hours} h {minutes} min"
    return f"{sign}{hours // 24} d {hours % 24} h"
