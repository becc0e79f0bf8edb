"""Rows of a fleet's history, as a store would tell them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from onebeat.history import END_OF_TIME, AuditRecord, JobState, ReplicaState, TickRecord
from onebeat.model import Tick, Verdict

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def job(job_id: str = "report", schedule: str | None = "cron('0 * * * *')", **other: Any) -> JobState:
    """It ran at noon, and all was well."""
    fields: dict[str, Any] = {
        "job_id": job_id, "schedule": schedule, "watermark": NOON, "first_seen": NOON - timedelta(days=1),
        "owed_since": NOON, "holder": None, "lease_until": None, "paused_until": None,
        "last_verdict": Verdict.RAN, "last_success_at": NOON, "failures": 0,
    }  # fmt: skip
    return JobState(**(fields | other))


def replica(label: str, **other: Any) -> ReplicaState:
    """It has lived for an hour."""
    fields: dict[str, Any] = {
        "id": f"id-of-{label}", "label": label, "version": "0.1.0", "zone_data": "2026a", "pid": 7,
        "started_at": NOON - HOUR, "beat_at": NOON, "healthy_since": NOON - HOUR, "dead_at": None,
        "skew": 0.0, "jobs": {},
    }  # fmt: skip
    return ReplicaState(**(fields | other))


def tick(job_id: str, at: datetime = NOON, **other: Any) -> TickRecord:
    """It runs, since the moment it came due."""
    fields: dict[str, Any] = {
        "tick": Tick(job_id, at), "verdict": None, "provisional": False, "replica": "a",
        "replica_id": "id-of-a", "attempt": 1, "fence": 1, "claimed_at": at, "started_at": at,
        "finished_at": None, "note": None, "trace_id": None, "wanted": None, "triggered": False, "by": None,
        "reason": None,
    }  # fmt: skip
    return TickRecord(**(fields | other))


def record(at: datetime, verdict: Verdict | None = Verdict.RAN, **other: Any) -> TickRecord:
    """It took web-1 two seconds."""
    fields = {"verdict": verdict, "replica": "web-1", "finished_at": at + timedelta(seconds=2)}
    return tick("report", at, **(fields | other))


def paused(**other: Any) -> AuditRecord:
    """Since three hours ago, without an end."""
    fields: dict[str, Any] = {
        "number": 1, "at": NOON - 3 * HOUR, "action": "pause", "target": "the whole app",
        "by": "ada", "reason": "stocktaking", "until": END_OF_TIME,
    }  # fmt: skip
    return AuditRecord(**(fields | other))
