"""Rows of a history, as a store would tell them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from onebeat.history import END_OF_TIME, AuditRecord, JobState, TickRecord
from onebeat.model import Tick, Verdict

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def record(at: datetime, verdict: Verdict | None = Verdict.RAN, **fields: Any) -> TickRecord:
    known: dict[str, Any] = {
        "tick": Tick("report", at), "verdict": verdict, "provisional": False, "replica": "web-1",
        "replica_id": "id", "attempt": 1, "fence": 1, "claimed_at": at, "started_at": at,
        "finished_at": at + timedelta(seconds=2), "note": None, "trace_id": None, "wanted": None,
        "triggered": False, "by": None, "reason": None,
    }  # fmt: skip
    return TickRecord(**(known | fields))


def job(**fields: Any) -> JobState:
    known: dict[str, Any] = {
        "job_id": "report", "schedule": "0 * * * *", "watermark": NOON,
        "first_seen": NOON - timedelta(days=1), "owed_since": NOON, "holder": None,
        "lease_until": None, "paused_until": None,
        "last_verdict": Verdict.RAN, "last_success_at": NOON, "failures": 0,
    }  # fmt: skip
    return JobState(**(known | fields))


def paused(**fields: Any) -> AuditRecord:
    known: dict[str, Any] = {
        "number": 1, "at": NOON - timedelta(hours=3), "action": "pause", "target": "the whole app",
        "by": "ada", "reason": "stocktaking", "until": END_OF_TIME,
    }  # fmt: skip
    return AuditRecord(**(known | fields))
