"""Events as OpenTelemetry metrics and traces (T-METRIC, T-TRACE). Importing this imports its API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import Token
from datetime import datetime
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.metrics import Meter
from opentelemetry.trace import Link, Span, Status, StatusCode, Tracer

from onebeat.events import (
    ClaimAnswered,
    ClaimStatementFailed,
    ClockAhead,
    Event,
    RunEnded,
    RunStarted,
    SchedulerStopped,
    TickEnded,
    TicksPassedOver,
    run_trace_id,
)
from onebeat.model import Outcome, Reason
from onebeat.observers.instruments import JOB_NAME, instruments_of

Upcoming = Callable[[], Iterable[tuple[str, datetime]]]


class OtelObserver:
    """Feeds a meter and a tracer, by default those of the global providers, whenever these are set.

    *upcoming* gives the next due instant of each job; it is called from the exporter's thread.
    """

    inline = True  # a span must be current where the body runs

    def __init__(
        self, meter: Meter | None = None, tracer: Tracer | None = None, upcoming: Upcoming | None = None
    ) -> None:
        self._instruments = instruments_of(meter)
        self._tracer = tracer or trace.get_tracer("onebeat")
        self._upcoming = upcoming
        self._succeeded: dict[str, datetime] = {}
        self._runs: dict[str, tuple[Span, Token[Context]]] = {}
        self._feeds: dict[type[Any], Callable[[Any], None]] = {
            TickEnded: self._tick_ended,
            TicksPassedOver: self._ticks_passed_over,
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            ClaimAnswered: self._claim_answered,
            ClaimStatementFailed: self._claim_failed,
            ClockAhead: self._clock_ahead,
            SchedulerStopped: self._stopped,
        }
        self._instruments.watch(self)

    def __call__(self, event: Event) -> None:
        feed = self._feeds.get(type(event))
        if feed is not None:
            feed(event)

    def last_success(self) -> Mapping[str, datetime]:
        return self._succeeded.copy()

    def next_tick(self) -> Mapping[str, datetime]:
        return dict(self._upcoming()) if self._upcoming is not None else {}

    def _tick_ended(self, event: TickEnded) -> None:
        job_id = event.tick.job_id
        self._instruments.ticks.add(1, _ending(job_id, event.outcome, event.reason))
        # A clock set back in between makes a delay negative, which no histogram takes.
        delay = max(0.0, event.delay)
        self._instruments.tick_delay(delay, {JOB_NAME: job_id, "onebeat.outcome": event.outcome.value})

    def _ticks_passed_over(self, event: TicksPassedOver) -> None:
        ending = _ending(event.job_id, Outcome.SKIPPED, Reason.PASSED_OVER)
        self._instruments.ticks.add(event.count, ending)

    def _run_started(self, event: RunStarted) -> None:
        self._instruments.run_active.add(1, {JOB_NAME: event.job_id})
        span = self._tracer.start_span(
            _span_name(event),
            context=Context(),
            attributes=_start_attributes(event),
            links=_caller() if event.tick is None else None,
        )
        if not span.get_span_context().is_valid:
            return  # no SDK: nothing to make current, nothing to end
        around = Context() if event.tick else get_current()
        run_trace_id.set(format(span.get_span_context().trace_id, "032x"))
        self._runs[event.run_id] = span, attach(trace.set_span_in_context(span, around))

    def _run_ended(self, event: RunEnded) -> None:
        job_id = event.job_id
        self._instruments.run_active.add(-1, {JOB_NAME: job_id})
        ending = _ending(job_id, event.outcome, event.reason)
        # Before the span is left, so that an exemplar can point to it.
        self._instruments.run_duration(max(0.0, event.duration), ending)
        if event.tick is not None and event.outcome is Outcome.RAN:
            self._succeeded[job_id] = event.finished_at
        span, token = self._runs.pop(event.run_id, (None, None))
        if span is None or token is None:
            return
        try:
            _describe_ending(span, event, ending)
        finally:
            detach(token)
            span.end()

    def _claim_answered(self, event: ClaimAnswered) -> None:
        self._instruments.claim_duration(event.duration)

    def _claim_failed(self, event: ClaimStatementFailed) -> None:
        self._instruments.claim_duration(event.duration, {"error.type": event.error.failure.value})

    def _clock_ahead(self, event: ClockAhead) -> None:
        self._instruments.clock_skew(max(0.0, event.skew))

    def _stopped(self, event: SchedulerStopped) -> None:
        """What outlived the shutdown may never end: its spans are exported now or not at all."""
        self._upcoming = None
        while self._runs:
            _, (span, _) = self._runs.popitem()
            span.set_status(Status(StatusCode.ERROR, "still running when the scheduler stopped"))
            span.end()


def _ending(job_id: str, outcome: Outcome, reason: Reason | None) -> dict[str, str]:
    ending = {JOB_NAME: job_id, "onebeat.outcome": outcome.value}
    if reason is not None:
        ending["onebeat.reason"] = reason.value
    return ending


def _span_name(event: RunStarted) -> str:
    return f"job.{event.job_id}.run" if event.tick is None else f"cron.{event.job_id}.tick"


def _caller() -> list[Link]:
    """Who asked for a run on demand: its trace names theirs, but does not join it.

    Of no use to a tick, in whose task whatever started the scheduler is still current.
    """
    context = trace.get_current_span().get_span_context()
    return [Link(context)] if context.is_valid else []


def _start_attributes(event: RunStarted) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {JOB_NAME: event.job_id, "onebeat.run.id": event.run_id}
    if event.tick is not None:
        attributes["onebeat.scheduled_at"] = event.tick.scheduled_at.isoformat()
        attributes["onebeat.attempt"] = event.attempt
    return attributes


def _describe_ending(span: Span, event: RunEnded, ending: dict[str, str]) -> None:
    span.set_attributes(ending)
    if event.outcome is Outcome.RAN:
        return
    error = event.error
    if error is None:
        span.set_status(Status(StatusCode.ERROR, event.reason and event.reason.value))
        return
    # The status first: making text of somebody else's error may raise.
    span.set_status(Status(StatusCode.ERROR, type(error).__name__))
    span.record_exception(error)
