"""Rows as a store tells them, for views that are tested without one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from onebeat.history import JobState, ReplicaState, TickRecord
from onebeat.model import Tick

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)


def job(job_id: str, schedule: str | None = "cron('0 9 * * *')", **other: Any) -> JobState:
    fields: dict[str, Any] = {
        "job_id": job_id, "schedule": schedule, "watermark": None, "first_seen": NOON, "owed_since": NOON,
        "holder": None, "lease_until": None, "paused_until": None, "last_verdict": None,
        "last_success_at": None, "failures": 0,
    }  # fmt: skip
    return JobState(**(fields | other))


def replica(label: str, **other: Any) -> ReplicaState:
    start = NOON - timedelta(hours=1)
    fields: dict[str, Any] = {
        "id": f"id-of-{label}", "label": label, "version": "0.1.0", "zone_data": "2026a", "pid": 7,
        "started_at": start, "beat_at": NOON, "healthy_since": start, "dead_at": None, "skew": 0.0,
        "jobs": {},
    }  # fmt: skip
    return ReplicaState(**(fields | other))


def tick(job_id: str, at: datetime = NOON, **other: Any) -> TickRecord:
    fields: dict[str, Any] = {
        "tick": Tick(job_id, at), "verdict": None, "provisional": False, "replica": "a",
        "replica_id": "id-of-a", "attempt": 1, "fence": 1, "claimed_at": at, "started_at": at,
        "finished_at": None, "note": None, "trace_id": None, "wanted": None, "triggered": False, "by": None,
        "reason": None,
    }  # fmt: skip
    return TickRecord(**(fields | other))
