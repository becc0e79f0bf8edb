"""The values of the contract as the one text a statement takes, and back from the one it gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from onebeat.model import LONGEST, Answer, Bid, Release, Replica, Ruling


def claim_request(
    bids: Sequence[Bid], replica: Replica, timeout: timedelta, tolerance: timedelta
) -> tuple[str, str]:
    """The arguments of the claim: who asks and how, and the bids."""
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
            **_unusual(bid),
        }
        for number, bid in enumerate(bids)
    ]
    return json.dumps(ask), json.dumps(rows)


def _unusual(bid: Bid) -> dict[str, object]:
    """What most bids are not, and need not say a thousand times."""
    if bid.attempt == 1 and not bid.rerun and not bid.triggered:
        return {}
    return {"attempt": bid.attempt, "rerun": bid.rerun, "triggered": bid.triggered}


def answers(bids: Sequence[Bid], told: str) -> list[Answer]:
    """What the claim told, one answer a bid, in the order of *bids*."""
    reply = json.loads(told)
    store_time = instant(reply["store_time"])
    answers: list[Answer | None] = [None] * len(bids)
    for number, *row in reply["answers"]:
        answers[number] = _answer(bids[number], store_time, *row)
    return [answer for answer in answers if answer is not None]


def _missed(release: Release) -> dict[str, object]:
    return {"missed": [instant.isoformat() for instant in release.missed]} if release.missed else {}


def rounds(releases: Sequence[Release]) -> list[list[Release]]:
    """*releases* with each job at most once a round, in their order: its row is written once a statement."""
    if len({release.tick.job_id for release in releases}) == len(releases):
        return [list(releases)] if releases else []
    rounds: list[list[Release]] = []
    seen: Counter[str] = Counter()
    for release in releases:
        if seen[release.tick.job_id] == len(rounds):
            rounds.append([])
        rounds[seen[release.tick.job_id]].append(release)
        seen[release.tick.job_id] += 1
    return rounds


def release_request(releases: Sequence[Release], replica: Replica) -> tuple[str, str]:
    """The arguments of the release: who asks, and the releases."""
    rows = [
        {
            "job_id": release.tick.job_id,
            "scheduled_at": release.tick.scheduled_at.isoformat(),
            "token": release.token,
            "verdict": release.verdict,
            "started_at": release.started_at and release.started_at.isoformat(),
            "finished_at": release.finished_at and release.finished_at.isoformat(),
            "error": release.error and storable(release.error),
            "trace_id": release.trace_id,
            "accounts": release.accounts,
            **_missed(release),
        }
        for release in releases
    ]
    return json.dumps({"app": replica.app, "label": replica.label}), json.dumps(rows)


def _answer(
    bid: Bid,
    store_time: datetime,
    told: str,
    watermark: str | None,
    fence: int,
    attempt: int,
    previous_at: str | None,
    owed_since: str | None,
    claimed_by: str | None,
) -> Answer:
    ruling = Ruling(told)
    newest = instant_or_none(watermark)
    if ruling is not Ruling.WON:
        return Answer(bid.tick, bid.token, ruling, store_time, newest, claimed_by=claimed_by)
    return Answer(
        bid.tick,
        bid.token,
        ruling,
        store_time,
        newest,
        fence,
        attempt,
        instant_or_none(previous_at),
        instant_or_none(owed_since),
        claimed_by,
    )


def instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else instant(text)


@lru_cache(maxsize=256)
def instant(text: str) -> datetime:
    """In UTC. Most answers of a batch name the same few instants."""
    return datetime.fromisoformat(text).astimezone(UTC)


def storable(text: str) -> str:
    """*text* without what PostgreSQL stores nowhere: one odd error message must not fail a whole batch."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
