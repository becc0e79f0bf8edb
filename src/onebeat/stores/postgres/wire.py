"""The values of the contract as the one text a statement takes, and back from the one it gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from onebeat.model import LONGEST, Answer, Bid, Release, Replica, Ruling


def claim_request(bids: Sequence[Bid], replica: Replica, timeout: timedelta, tolerance: timedelta) -> str:
    """The argument of CLAIM."""
    return json.dumps(
        {
            "app": replica.app,
            "replica": replica.id,
            "label": replica.label,
            "timeout": min(timeout, LONGEST).total_seconds(),
            "tolerance": tolerance.total_seconds(),
            "bids": [
                {
                    "number": number,
                    "job_id": bid.tick.job_id,
                    "scheduled_at": bid.tick.scheduled_at.isoformat(),
                    "token": bid.token,
                    "lease": None if bid.lease is None else min(bid.lease, LONGEST).total_seconds(),
                }
                for number, bid in enumerate(bids)
            ],
        }
    )


def answers(bids: Sequence[Bid], told: str) -> list[Answer]:
    """What CLAIM told, one answer a bid, in the order of *bids*."""
    rows = sorted(json.loads(told), key=lambda row: int(row["number"]))
    return [_answer(bid, row) for bid, row in zip(bids, rows, strict=True)]


def release_request(releases: Sequence[Release], replica: Replica) -> str:
    """The argument of RELEASE."""
    return json.dumps(
        {
            "app": replica.app,
            "releases": [
                {
                    "job_id": release.tick.job_id,
                    "scheduled_at": release.tick.scheduled_at.isoformat(),
                    "token": release.token,
                    "verdict": release.verdict,
                    "started_at": release.started_at and release.started_at.isoformat(),
                    "finished_at": release.finished_at and release.finished_at.isoformat(),
                    "error": release.error and _storable(release.error),
                }
                for release in releases
            ],
        }
    )


def _answer(bid: Bid, row: Mapping[str, Any]) -> Answer:
    ruling = Ruling(row["ruling"])
    won = ruling is Ruling.WON
    return Answer(
        bid.tick,
        bid.token,
        ruling,
        store_time=datetime.fromisoformat(row["store_time"]).astimezone(UTC),
        watermark=_instant(row["watermark"]),
        fence=row["fence"] if won else 0,
        attempt=row["attempt"] if won else 1,
        previous_at=_instant(row["previous_at"]) if won else None,
        claimed_by=row["claimed_by"],
    )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _storable(text: str) -> str:
    """*text* without what PostgreSQL stores nowhere: one odd error message must not fail a whole batch."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
