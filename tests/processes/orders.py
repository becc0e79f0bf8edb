"""What a replica of these tests is told when it starts."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

QUICK, PLAIN, ALLOWED = "quick", "plain", "allowed"
JOBS = (QUICK, PLAIN, ALLOWED)
"""Due every second: one on the loop, one in a thread for a while, one whose runs may overlap."""

PLAIN_SECONDS = 0.3
TIMEOUT = 2.0
LEASE_MARGIN = 1.0
LEASE = timedelta(seconds=TIMEOUT + LEASE_MARGIN)
TOLERANCE = timedelta(seconds=5)
"""The stores' own, which no replica here changes."""

LONG = "long"
"""Never due in these tests; triggered, its body goes on until it is cancelled."""

ENDLESS, BLOCKING = "endless", "blocking"
"""For those whose orders have them too, due every second: a body that goes on until it is cancelled, and one
that blocks its replica's loop for three times to live, but for the first time alone."""

SELDOM = "seldom"
"""For those whose orders have it too: like the plain one, but due only every five seconds."""

_VARIABLE = "ONEBEAT_TEST_ORDERS"


@dataclass(frozen=True, slots=True)
class Orders:
    """`handle`: how the app hands its database over; `skew`: by how many seconds the replica leads;
    `ttl` and `timeout` are the scheduler's; `on_lost` is the jobs'; `crowd` jobs more are due every two
    seconds; `too` names others."""

    folder: str
    label: str
    store: str
    handle: str = "url"
    skew: float = 0.0
    claim_timeout: float = 10.0
    ttl: float = 60.0
    timeout: float = TIMEOUT
    on_lost: str = "skip"
    crowd: int = 0
    too: tuple[str, ...] = ()

    @property
    def ledger(self) -> Path:
        return Path(self.folder, "ledger")

    @property
    def notes(self) -> Path:
        return Path(self.folder, "notes")

    @property
    def log(self) -> Path:
        return Path(self.folder, f"{self.label}.log")

    @property
    def environment(self) -> dict[str, str]:
        """For a program that finds its orders there."""
        return {**os.environ, "PYTHONUNBUFFERED": "1", _VARIABLE: self.text()}

    @classmethod
    def from_environment(cls) -> Orders:
        return cls.read(os.environ[_VARIABLE])

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Orders:
        return cls(**json.loads(text))


def orders_for(count: int, store: str, folder: Path) -> list[Orders]:
    """The same orders for *count* replicas, r0, r1 …"""
    return [Orders(str(folder), f"r{number}", store) for number in range(count)]


def with_skews(orders: list[Orders], *skews: float) -> list[Orders]:
    """These orders with the first replicas' clocks set wrong."""
    return [replace(order, skew=skew) for order, skew in zip(orders, skews, strict=False)] + orders[
        len(skews) :
    ]
