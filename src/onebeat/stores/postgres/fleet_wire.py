"""What the fleet's side of the store asks and is told, as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from onebeat.fleet import Buried, Facts, Held, Order, Pulse, Registered, Registration
from onebeat.model import LONGEST, Record, Replica, Tick, Verdict, Wanted
from onebeat.stores.postgres.channel import channel_of
from onebeat.stores.postgres.wire import instant, instant_or_none, storable


def asker(replica: Replica, **more: object) -> str:
    return json.dumps({"app": replica.app, "replica": replica.id, "label": replica.label, **more})


def join_request(
    registrations: Sequence[Registration], replica: Replica, facts: Facts, now: datetime
) -> tuple[str, str]:
    ask = asker(
        replica,
        channel=channel_of(replica.app),
        version=storable(facts.version),
        zone_data=storable(facts.zone_data),
        pid=facts.pid,
        now=now.isoformat(),
    )
    rows = [
        {
            "number": number,
            "job_id": registration.job_id,
            "schedule": storable(registration.schedule),
            "instants": registration.instants,
        }
        for number, registration in enumerate(registrations)
    ]
    return ask, json.dumps(rows)


def registered(registrations: Sequence[Registration], told: str) -> list[Registered]:
    by_number = sorted(json.loads(told) or [])
    return [
        Registered(registrations[number].job_id, instant_or_none(watermark), instant(owed_since))
        for number, watermark, owed_since in by_number
    ]


def beat_request(replica: Replica, now: datetime, ttl: timedelta) -> str:
    return asker(replica, now=now.isoformat(), ttl=seconds(ttl))


def pulse(replica: Replica, told: str) -> Pulse:
    reply = json.loads(told)
    return Pulse(
        store_time=instant(reply["store_time"]),
        skew=reply["skew"],
        dead=reply["dead"],
        healthy=reply["healthy"],
        suspects=reply["suspects"],
        living=tuple(reply["living"]) if reply["dead"] else (*reply["living"], replica.id),
        orders=tuple(_order(*row) for row in reply["orders"]),
        timeline=reply["timeline"],
        lapse_in=reply["lapse_in"],
    )


def _order(
    wanted: str,
    job_id: str,
    scheduled_at: str,
    token: str | None,
    attempt: int,
    forced: bool,
    asked_by: str | None,
    reason: str | None,
) -> Order:
    tick = Tick(job_id, instant(scheduled_at))
    kind = Wanted(wanted)
    return Order(kind, tick, token if kind is Wanted.CANCEL else None, attempt, forced, asked_by, reason)


def buried(told: str) -> list[Buried]:
    return [
        Buried(Tick(job_id, instant(scheduled_at)), attempt)
        for job_id, scheduled_at, attempt in json.loads(told)
    ]


def reassert_request(claims: Sequence[Held], replica: Replica) -> tuple[str, str]:
    rows = [
        {
            "number": number,
            **_key(claim.tick),
            "token": claim.token,
            "lease": None if claim.lease is None else seconds(claim.lease),
        }
        for number, claim in enumerate(claims)
    ]
    return asker(replica), json.dumps(rows)


def record_request(records: Iterable[Record], replica: Replica) -> tuple[str, str]:
    """Of several records of one tick the last counts, and `missed` only where it is alone."""
    last: dict[Tick, Record] = {}
    for record in records:
        if record.verdict is not Verdict.MISSED or record.tick not in last:
            last[record.tick] = record
    rows = [
        {**_key(tick), "verdict": record.verdict, "note": record.note and storable(record.note)}
        for tick, record in last.items()
    ]
    return asker(replica), json.dumps(rows)


def seconds(duration: timedelta) -> float:
    return min(duration, LONGEST).total_seconds()


def _key(tick: Tick) -> dict[str, str]:
    return {"job_id": tick.job_id, "scheduled_at": tick.scheduled_at.isoformat()}
