"""The metrics by name, unit and buckets (T-METRIC). docs/reference/metrics.md lists them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache, partial
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from opentelemetry.metrics import CallbackOptions, Meter, Observation, get_meter

JOB_NAME = "onebeat.job.name"

_DELAYS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400)


class Gauged(Protocol):
    """What the gauges ask, from the exporter's thread."""

    def last_success(self) -> Mapping[str, datetime]:
        """When the newest successful run of a tick ended, by job id."""

    def next_tick(self) -> Mapping[str, datetime]:
        """The next due instant by job id."""


class Instruments:
    """The instruments of one meter, shared by every scheduler that reports to it.

    Shared because a meter keeps only the callbacks a gauge was first created with: the jobs of a
    second scheduler would never be seen.
    """

    def __init__(self, meter: Meter) -> None:
        self._lock = threading.Lock()
        self._gauged: WeakSet[Gauged] = WeakSet()
        self.ticks = meter.create_counter(
            "onebeat.ticks",
            unit="{tick}",
            description="Ticks this replica evaluated, by what became of them.",
        )
        self.run_active = meter.create_up_down_counter(
            "onebeat.run.active", unit="{run}", description="Runs whose body has begun and not ended."
        )
        seconds = partial(_seconds, meter)
        self.run_duration = seconds("onebeat.run.duration", "How long bodies took.", _DURATIONS)
        self.tick_delay = seconds(
            "onebeat.tick.delay", "How long after its instant a tick was decided or its body began.", _DELAYS
        )
        self.claim_duration = seconds("onebeat.claim.duration", "How long claim statements took.", _DELAYS)
        self.clock_skew = seconds(
            "onebeat.clock.skew", "By how much this clock led the store's when a bid came too early.", _DELAYS
        )
        meter.create_observable_gauge(
            "onebeat.job.last_success",
            [self._last_successes],
            unit="s",
            description="When a tick last succeeded on this replica, in seconds since the Unix epoch.",
        )
        meter.create_observable_gauge(
            "onebeat.job.next_tick",
            [self._next_ticks],
            unit="s",
            description="When the job is next due, in seconds since the Unix epoch.",
        )

    def watch(self, gauged: Gauged) -> None:
        """Ask *gauged* too, for as long as somebody else holds on to it."""
        with self._lock:
            self._gauged.add(gauged)

    def _live(self) -> list[Gauged]:
        with self._lock:
            return list(self._gauged)

    def _last_successes(self, options: CallbackOptions) -> Iterable[Observation]:
        return _observations(max, (gauged.last_success() for gauged in self._live()))

    def _next_ticks(self, options: CallbackOptions) -> Iterable[Observation]:
        return _observations(min, (gauged.next_tick() for gauged in self._live()))


def _seconds(meter: Meter, name: str, description: str, buckets: tuple[float, ...]) -> Callable[..., None]:
    return meter.create_histogram(
        name, unit="s", description=description, explicit_bucket_boundaries_advisory=buckets
    ).record


def _observations(
    choose: Callable[[datetime, datetime], datetime], sources: Iterable[Mapping[str, datetime]]
) -> list[Observation]:
    """One a job, even where several replicas of this process have it."""
    chosen: dict[str, datetime] = {}
    for source in sources:
        for job_id, instant in source.items():
            chosen[job_id] = choose(chosen.get(job_id, instant), instant)
    return [Observation(instant.timestamp(), {JOB_NAME: job_id}) for job_id, instant in chosen.items()]


# Of the process, as the meters themselves are.
_INSTRUMENTS: WeakKeyDictionary[Meter, Instruments] = WeakKeyDictionary()
_CREATING = threading.Lock()


def instruments_of(meter: Meter | None) -> Instruments:
    """The instruments of *meter*, by default one of the global provider, now or once it is set."""
    meter = meter or _global_meter()
    with _CREATING:
        found = _INSTRUMENTS.get(meter)
        if found is None:
            found = _INSTRUMENTS[meter] = Instruments(meter)
        return found


@cache
def _global_meter() -> Meter:
    return get_meter("onebeat")
