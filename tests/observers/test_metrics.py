from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from onebeat.errors import ClaimFailure
from onebeat.events import ClaimAnswered, Event, SchedulerStopped
from onebeat.model import Outcome, Reason
from onebeat.observers.otel import OtelObserver
from tests.observers import given
from tests.observers.given import NOON, REPLICA
from tests.observers.test_logs import ONE_OF_EACH


class Metrics:
    """An observer on a real SDK, and what a collection then finds."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], shutdown_on_exit=False)
        self.meter = self.provider.get_meter("test")
        self.observe = OtelObserver(self.meter, upcoming=lambda: [("report", NOON)])

    def after(self, *events: Event) -> dict[str, Any]:
        for event in events:
            self.observe(event)
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    def ticks(self, *events: Event) -> dict[tuple[str, ...], int]:
        metric = self.after(*events).get("onebeat.ticks")
        names = ("onebeat.job.name", "onebeat.outcome", "onebeat.reason")
        return {
            tuple(str(point.attributes[name]) for name in names if name in point.attributes): point.value
            for point in (metric.data.data_points if metric else ())
        }


@pytest.fixture
def metrics() -> Iterable[Metrics]:
    made = Metrics()
    yield made
    made.provider.shutdown()


ENDINGS = [
    (Outcome.RAN, None),
    (Outcome.FAILED, None),
    *((Outcome.FAILED, reason) for reason in (Reason.TIMED_OUT, Reason.CANCELLED, Reason.LOST)),
    *(
        (Outcome.SKIPPED, reason)
        for reason in (
            Reason.CLAIMED,
            Reason.OVERLAPPED,
            Reason.BUSY,
            Reason.LATE,
            Reason.PAUSED,
            Reason.CANCELLED,
        )
    ),
    *((Outcome.CLAIM_ERROR, reason) for reason in (Reason.UNAVAILABLE, Reason.TIMEOUT, Reason.REFUSED)),
]


@pytest.mark.parametrize(("outcome", "reason"), ENDINGS)
def test_every_way_a_tick_ends_is_counted_once(
    metrics: Metrics, outcome: Outcome, reason: Reason | None
) -> None:
    """T-METRIC: each tick ends in exactly one outcome; the reason is there only when there is one."""
    expected = ("report", outcome.value, *([reason.value] if reason else []))
    assert metrics.ticks(given.ended(outcome, reason)) == {expected: 1}


def test_no_reason_is_forgotten_here() -> None:
    assert {reason for _, reason in ENDINGS} | {Reason.PASSED_OVER} == {*Reason, None}


def test_ticks_passed_over_are_counted_by_their_number(metrics: Metrics) -> None:
    """T-METRIC: skipped, reason passed_over, by count."""
    assert metrics.ticks(given.passed_over(59)) == {("report", "skipped", "passed_over"): 59}


def test_runs_on_demand_feed_only_the_run_metrics(metrics: Metrics) -> None:
    """T-METRIC: on-demand runs feed the run metrics, never `onebeat.ticks`."""
    found = metrics.after(given.run_started(on_demand=True), given.run_ended(on_demand=True))
    assert set(found) == {"onebeat.run.active", "onebeat.run.duration", "onebeat.job.next_tick"}


def test_run_durations_are_seconds_with_their_outcome(metrics: Metrics) -> None:
    metric = metrics.after(given.run_ended(Outcome.FAILED, Reason.TIMED_OUT))["onebeat.run.duration"]
    (point,) = metric.data.data_points
    assert (metric.unit, point.sum, point.count) == ("s", 3.0, 1)
    assert point.attributes == {
        "onebeat.job.name": "report",
        "onebeat.outcome": "failed",
        "onebeat.reason": "timed_out",
    }
    assert point.explicit_bounds[-1] == 14_400


def test_tick_delays_are_seconds_with_their_outcome(metrics: Metrics) -> None:
    metric = metrics.after(given.ended(Outcome.SKIPPED, Reason.CLAIMED))["onebeat.tick.delay"]
    (point,) = metric.data.data_points
    assert (metric.unit, point.sum) == ("s", 0.25)
    assert point.attributes == {"onebeat.job.name": "report", "onebeat.outcome": "skipped"}


def test_claim_durations_tell_failures_from_answers(metrics: Metrics) -> None:
    timeout = given.claim_failed(failure=ClaimFailure.TIMEOUT)
    metric = metrics.after(ClaimAnswered(3, 1, 0.02), timeout)["onebeat.claim.duration"]
    assert metric.unit == "s"
    sums = {point.attributes.get("error.type"): point.sum for point in metric.data.data_points}
    assert sums == {None: 0.02, "timeout": 0.5}


def test_active_runs_go_up_and_down(metrics: Metrics) -> None:
    def active(event: Event) -> int:
        (point,) = metrics.after(event)["onebeat.run.active"].data.data_points
        return int(point.value)

    assert active(given.run_started("run-1")) == 1
    assert active(given.run_started("run-2")) == 2
    assert active(given.run_ended(run_id="run-1")) == 1
    assert active(given.run_ended(Outcome.FAILED, run_id="run-2")) == 0


def test_the_last_success_is_that_of_the_newest_tick_that_ran(metrics: Metrics) -> None:
    """T-METRIC: a gauge of the last success; a failed run and one on demand leave it alone."""
    none_yet = metrics.after(given.run_ended(Outcome.FAILED), given.run_ended(on_demand=True))
    assert "onebeat.job.last_success" not in none_yet
    metric = metrics.after(given.run_ended())["onebeat.job.last_success"]
    (point,) = metric.data.data_points
    assert (metric.unit, point.value) == ("s", (NOON + timedelta(seconds=3)).timestamp())


def test_the_next_tick_is_asked_for_when_collected_until_the_scheduler_stops(metrics: Metrics) -> None:
    """T-METRIC: a gauge of the next tick."""
    metric = metrics.after()["onebeat.job.next_tick"]
    (point,) = metric.data.data_points
    assert (metric.unit, point.value) == ("s", NOON.timestamp())
    assert point.attributes == {"onebeat.job.name": "report"}
    assert "onebeat.job.next_tick" not in metrics.after(SchedulerStopped(REPLICA, ()))


def test_schedulers_that_share_a_meter_are_all_in_the_gauges(metrics: Metrics) -> None:
    """A meter keeps only the callbacks a gauge was first made with."""
    sooner, later = NOON - timedelta(minutes=5), NOON + timedelta(minutes=5)

    def upcoming() -> list[tuple[str, datetime]]:
        return [("mail", later), ("report", sooner)]

    second = OtelObserver(metrics.meter, upcoming=upcoming)
    second(given.run_ended(job_id="mail"))
    found = metrics.after(given.run_ended())
    values = {
        name: {point.attributes["onebeat.job.name"]: point.value for point in found[name].data.data_points}
        for name in ("onebeat.job.next_tick", "onebeat.job.last_success")
    }
    assert values["onebeat.job.next_tick"] == {"mail": later.timestamp(), "report": sooner.timestamp()}
    assert set(values["onebeat.job.last_success"]) == {"mail", "report"}


def test_a_meter_does_not_keep_a_finished_scheduler_alive(metrics: Metrics) -> None:
    gone = weakref.ref(OtelObserver(metrics.meter))
    gc.collect()
    assert gone() is None


def test_units_and_attributes_keep_to_the_conventions(metrics: Metrics) -> None:
    """T-METRIC: no label is named `job` or `instance`."""
    every = [event for event, _ in ONE_OF_EACH if not isinstance(event, SchedulerStopped)]
    found = metrics.after(*every)
    units = {name: metric.unit for name, metric in found.items()}
    assert units == {
        "onebeat.ticks": "{tick}",
        "onebeat.run.active": "{run}",
        "onebeat.run.duration": "s",
        "onebeat.tick.delay": "s",
        "onebeat.claim.duration": "s",
        "onebeat.clock.skew": "s",
        "onebeat.job.last_success": "s",
        "onebeat.job.next_tick": "s",
    }
    points = [point for metric in found.values() for point in metric.data.data_points]
    labels = {label for point in points for label in point.attributes}
    assert labels == {"onebeat.job.name", "onebeat.outcome", "onebeat.reason", "error.type"}


def test_the_global_provider_counts_even_when_it_is_set_later() -> None:
    program = """
from datetime import UTC, datetime
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from onebeat.observers.otel import OtelObserver
from tests.observers import given
from onebeat.model import Outcome

early = OtelObserver(upcoming=lambda: [("a", given.NOON)])
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
late = OtelObserver(upcoming=lambda: [("b", given.NOON)])
for observe in (early, late):
    observe(given.ended(Outcome.RAN))
(scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
found = {metric.name: metric.data.data_points for metric in scope.metrics}
assert scope.scope.name == "onebeat"
assert [point.value for point in found["onebeat.ticks"]] == [2]
assert {point.attributes["onebeat.job.name"] for point in found["onebeat.job.next_tick"]} == {"a", "b"}
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=30, check=False)
    assert done.returncode == 0


def test_opentelemetry_is_imported_only_by_its_observer() -> None:
    program = """
import sys, onebeat.observers.relay, onebeat.observers.logs
sys.exit("opentelemetry" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=30, check=False).returncode == 0
