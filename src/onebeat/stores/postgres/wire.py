"""The values of the contract as the one text a statement takes, and back from the one it gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from onebeat.model import LONGEST, Answer, Bid, Release, Replica, Ruling


def claim_request(
    bids: Sequence[Bid], replica: Replica, timeout: timedelta, tolerance: timedelta
) -> tuple[str, str]:
    """The arguments of CLAIM: who asks and how, and the bids."""
    ask = {
        "app": replica.app,
        "replica": replica.id,
        "label": replica.label,
        "timeout": min(timeout, LONGEST).total_seconds(),
        "tolerance": tolerance.total_seconds(),
    }
    rows = [
        {
            "number": number,
            "job_id": bid.tick.job_id,
            "scheduled_at": bid.tick.scheduled_at.isoformat(),
            "token": bid.token,
            "lease": None if bid.lease is None else min(bid.lease, LONGEST).total_seconds(),
        }
        for number, bid in enumerate(bids)
    ]
    return json.dumps(ask), json.dumps(rows)


def answers(bids: Sequence[Bid], told: str) -> list[Answer]:
    """What CLAIM told, one answer a bid, in the order of *bids*."""
    reply = json.loads(told)
    store_time = _instant(reply["store_time"])
    answers: list[Answer | None] = [None] * len(bids)
    for number, *row in reply["answers"]:
        answers[number] = _answer(bids[number], store_time, *row)
    return [answer for answer in answers if answer is not None]


def release_request(releases: Sequence[Release], replica: Replica) -> tuple[str, str]:
    """The arguments of RELEASE: who asks, and the releases."""
    rows = [
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
    ]
    return json.dumps({"app": replica.app}), json.dumps(rows)


def _answer(
    bid: Bid,
    store_time: datetime,
    told: str,
    watermark: str | None,
    fence: int,
    attempt: int,
    previous_at: str | None,
    claimed_by: str | None,
) -> Answer:
    ruling = Ruling(told)
    newest = None if watermark is None else _instant(watermark)
    if ruling is not Ruling.WON:
        return Answer(bid.tick, bid.token, ruling, store_time, newest, claimed_by=claimed_by)
    previous = None if previous_at is None else _instant(previous_at)
    return Answer(
        bid.tick, bid.token, ruling, store_time, newest, fence, attempt, previous, claimed_by=claimed_by
    )


@lru_cache(maxsize=256)
def _instant(text: str) -> datetime:
    """In UTC. Most answers of a batch name the same few instants."""
    return datetime.fromisoformat(text).astimezone(UTC)


def _storable(text: str) -> str:
    """*text* without what PostgreSQL stores nowhere: one odd error message must not fail a whole batch."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
