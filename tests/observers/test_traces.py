from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Sequence
from contextvars import copy_context

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode, Tracer

from onebeat.events import SchedulerStopped
from onebeat.model import Outcome, Reason
from onebeat.observers.otel import OtelObserver
from tests.observers import given
from tests.observers.given import NOON, REPLICA

BOOM = given.raised(ValueError("boom"))


class Traces:
    """An observer on a real SDK, and the spans it has ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer: Tracer = self.provider.get_tracer("test")
        self.observe = OtelObserver(tracer=self.tracer)

    @property
    def ended(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()


@pytest.fixture
def traces() -> Iterable[Traces]:
    made = Traces()
    yield made
    made.provider.shutdown()


def test_a_tick_is_a_trace_of_its_own(traces: Traces) -> None:
    """T-TRACE: every run of a tick is a trace of its own: root span `cron.<job>.tick`."""
    with traces.tracer.start_as_current_span("start-up of the app"):
        traces.observe(given.run_started())
        traces.observe(given.run_ended())
    tick, app = traces.ended
    assert tick.name == "cron.report.tick"
    assert tick.parent is None
    assert not tick.links
    assert tick.context is not None
    assert app.context is not None
    assert tick.context.trace_id != app.context.trace_id
    assert tick.attributes == {
        "onebeat.job.name": "report",
        "onebeat.run.id": "run-1",
        "onebeat.scheduled_at": NOON.isoformat(),
        "onebeat.attempt": 1,
        "onebeat.outcome": "ran",
    }
    assert tick.status.status_code is StatusCode.UNSET


def test_a_run_on_demand_is_a_trace_that_names_its_caller(traces: Traces) -> None:
    with traces.tracer.start_as_current_span("request"):
        traces.observe(given.run_started(on_demand=True))
        traces.observe(given.run_ended(on_demand=True))
    run, request = traces.ended
    assert run.name == "job.report.run"
    assert run.parent is None
    assert [link.context for link in run.links] == [request.context]
    assert run.attributes is not None
    assert "onebeat.scheduled_at" not in run.attributes


async def test_the_span_is_current_in_the_body_and_its_threads_and_not_after(traces: Traces) -> None:
    """T-TRACE: what a body does belongs to the run's trace."""

    def span_id() -> int:
        return trace.get_current_span().get_span_context().span_id

    async def run(run_id: str) -> tuple[int, int, int]:
        traces.observe(given.run_started(run_id))
        inside = span_id()
        await asyncio.sleep(0)
        thread = await asyncio.to_thread(span_id)
        traces.observe(given.run_ended(run_id=run_id))
        return inside, thread, span_id()

    seen = await asyncio.gather(run("run-1"), run("run-2"))
    ids = {span.attributes["onebeat.run.id"]: span.context for span in traces.ended if span.attributes}
    for run_id, (inside, thread, after) in zip(("run-1", "run-2"), seen, strict=True):
        context = ids[run_id]
        assert context is not None
        assert inside == thread == context.span_id
        assert after == 0


@pytest.mark.parametrize("reason", [None, Reason.TIMED_OUT, Reason.CANCELLED, Reason.LOST])
def test_a_failed_run_has_its_error_on_the_span(traces: Traces, reason: Reason | None) -> None:
    """T-TRACE: error recorded on it."""
    traces.observe(given.run_started())
    traces.observe(given.run_ended(Outcome.FAILED, reason, BOOM))
    (span,) = traces.ended
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes is not None
    assert span.attributes["onebeat.outcome"] == "failed"
    assert span.attributes.get("onebeat.reason") == (reason.value if reason else None)
    (event,) = span.events
    assert event.attributes is not None
    assert event.attributes["exception.type"] == "ValueError"
    assert event.attributes["exception.message"] == "boom"
    assert "Traceback" in str(event.attributes["exception.stacktrace"])


def test_a_failure_without_an_error_still_has_its_status(traces: Traces) -> None:
    traces.observe(given.run_started())
    traces.observe(given.run_ended(Outcome.FAILED, Reason.LOST))
    (span,) = traces.ended
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "lost")


def test_an_error_that_cannot_be_told_still_ends_its_span(traces: Traces) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    traces.observe(given.run_started())
    with pytest.raises(RuntimeError, match="no words"):
        traces.observe(given.run_ended(Outcome.FAILED, None, Unspeakable()))
    (span,) = traces.ended
    assert span.status.status_code is StatusCode.ERROR
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_run_that_outlives_the_shutdown_is_exported_all_the_same(traces: Traces) -> None:
    """X-STOP: what has not ended in time is said, in traces too, and nothing is kept for it."""
    copy_context().run(traces.observe, given.run_started())
    traces.observe(SchedulerStopped(REPLICA, ("report",)))
    (span,) = traces.ended
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "still running when the scheduler stopped"
    traces.observe(given.run_ended())
    assert len(traces.ended) == 1


def test_an_end_without_a_start_is_no_error(traces: Traces) -> None:
    traces.observe(given.run_ended())
    assert not traces.ended


def test_a_run_that_is_not_sampled_leaves_its_children_unsampled_too() -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    observe = OtelObserver(tracer=provider.get_tracer("test"))
    observe(given.run_started())
    current = trace.get_current_span().get_span_context()
    observe(given.run_ended())
    assert current.is_valid
    assert not current.trace_flags.sampled
    assert not trace.get_current_span().get_span_context().is_valid


def test_without_an_sdk_nothing_is_kept_or_made_current() -> None:
    """T-METRIC: without an SDK they cost nothing worth measuring."""
    observe = OtelObserver()
    before = trace.get_current_span()
    observe(given.run_started())
    assert trace.get_current_span() is before
    objects = gc.get_referents(observe.__dict__)
    assert all("run-1" not in kept for kept in objects if isinstance(kept, dict))
